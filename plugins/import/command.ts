import { Option } from 'commander';
import { type Command, type CommandContext, CommandFailed, exampleText } from '#core/extension/commands/command.ts';
import { escapeControls } from '#core/platform/logger.ts';
import { ImportDraft } from './draft.ts';
import type { Vendors } from './endpoints.ts';
import { ImportError } from './members.ts';
import { findLinePrefix, parseText, readTextFile } from './read-file.ts';
import { renderUnmapped, renderVariables, renderYaml } from './render-yaml.ts';
import type { ImportSource } from './source.ts';
import { claudeCodeRouter } from './sources/claude-code-router.ts';
import { litellm } from './sources/litellm.ts';
import { newApi } from './sources/new-api.ts';
import { sub2api } from './sources/sub2api.ts';
import { importUsers } from './users/import-users.ts';
import { writeNewFile } from './users/keys-file.ts';

const sources: readonly ImportSource[] = [litellm, newApi, sub2api, claudeCodeRouter];

interface Options {
  readonly from: string;
  readonly users?: true;
  readonly dryRun?: true;
  readonly keys?: string;
  readonly envFile?: string;
  readonly yes?: true;
}

const examples = [
  'daypass import --from litellm config.yaml > gateway.yaml',
  'daypass import --from new-api channels.json --env-file .env > gateway.yaml',
  'daypass import --from new-api --users users.json --dry-run',
];

const help = `
Prints the file's settings as gateway.yaml. Comments at the top list the variables to set and the settings that were not imported, with
the reason. Secrets are never printed; variables take their place. Nothing is guessed, and only --users and --env-file change
anything.

FILE is
${sources.map(({ name, file }) => `  ${`${name}:`.padEnd(20)}${file}`).join('\n')}

With --users, an account is created for each user, once, with the remaining days of its subscriptions, rounded up. If an account with the
user's address exists, it gets the days. Each new account has a new key, which its owner sees after signing in with the address; --keys
writes the keys to a file for you instead. Keys are written before their accounts are created. After an interrupted import, a line without
an account has a valid key if the next import reports that its user was imported before. All changes are recorded.

Exit codes: 0 success, 1 some users were not imported, 2 invalid usage, 78 the file cannot be imported.`;

const invalidFileExitCode = 78;

export function createImportCommand(vendors: () => Vendors): Command {
  return {
    name: 'import',
    define(parser, context) {
      parser
        .description('print the configuration of another gateway as gateway.yaml, or create accounts for its users')
        .argument('<file>', 'JSON, YAML or CSV')
        .addOption(
          new Option('--from <gateway>', 'gateway that the file is from')
            .choices(sources.map(({ name }) => name))
            .makeOptionMandatory(),
        )
        .option('--users', 'the file is a dump of users: create their accounts')
        .option('--dry-run', 'with --users: print the changes without making them')
        .option('--keys <file>', 'with --users: write the new keys into this file, which must not exist')
        .option('--yes', 'with --users: do not ask for confirmation')
        .option(
          '--env-file <file>',
          'write the secrets into this file, which must not exist, for the folder of gateway.yaml',
        )
        .addHelpText('after', `${help}${exampleText(examples, '')}`)
        .action((file: string, options: Options) => runImport(file, options, context, vendors()));
    },
  };
}

async function runImport(file: string, options: Options, context: CommandContext, vendors: Vendors): Promise<void> {
  checkOptions(options);
  const source = sources.find(({ name }) => name === options.from) as ImportSource;
  let text = '';
  try {
    text = await readTextFile(file);
    const value = parseText(text);
    if (options.users === true) return await importUsers(source, value, options, context);
    // The file is read twice, so that no secret gets the name of a variable that is only mentioned later in the file.
    const firstReading = new ImportDraft();
    source.readConfiguration(value, firstReading, vendors);
    const draft = new ImportDraft(firstReading.mentionedVariables);
    source.readConfiguration(value, draft, vendors);
    if (options.envFile !== undefined) await writeEnvFile(draft, options.envFile);
    context.print(renderYaml(draft, source.title, file));
    printSummary(draft);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    const path = error.path === undefined ? '' : `${error.path} `;
    throw new CommandFailed(
      escapeControls(`${file}: ${findLinePrefix(text, error.path)}${path}${error.message}`),
      invalidFileExitCode,
    );
  }
}

function checkOptions({ users, dryRun, keys, envFile, yes }: Options): void {
  const userOptions = { '--dry-run': dryRun, '--keys': keys, '--yes': yes };
  const [misplacedOption] = Object.entries(userOptions).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (users !== true && misplacedOption !== undefined) throw new CommandFailed(`${misplacedOption} needs --users.`, 2);
  if (users === true && envFile !== undefined)
    throw new CommandFailed('--env-file cannot be combined with --users.', 2);
}

async function writeEnvFile(draft: ImportDraft, path: string): Promise<void> {
  const lines = Array.from(draft.variables.values(), ({ name, value = '' }) => {
    const quote = ["'", '"', '`'].find((candidate) => !value.includes(candidate));
    const canBeQuoted = quote !== undefined && (quote === "'" || !value.includes('\\'));
    if (!canBeQuoted) draft.note(name, 'its secret contains every kind of quote, so it is not in the env file');
    return `${name}=${canBeQuoted ? `${quote}${value}${quote}` : ''}\n`;
  });
  await writeNewFile(path, lines.join(''));
}

function printSummary(draft: ImportDraft): void {
  const { upstreams, models, aliases } = draft;
  const lines = [
    `${upstreams.size} upstreams, ${models.size} models, ${aliases.size} aliases.`,
    ...renderTitledLines('Set these variables:', renderVariables(draft)),
    ...renderTitledLines('Not imported:', renderUnmapped(draft.unmapped)),
  ];
  // On stderr, because stdout usually goes to a file.
  for (const line of lines) console.error(escapeControls(line));
}

function renderTitledLines(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}
