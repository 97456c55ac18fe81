import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command as Parser } from 'commander';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { type CoreCommandContext, createContext } from './context.ts';
import { loadEnvironmentFile } from '../environment-file.ts';
import { reviewedHost } from './reviewed-host.ts';

const sample = new URL('../../../gateway.yaml', import.meta.url);

const showcase = /^ {2}demo-[a-z]+: .*\n(?: {4,}#.*\n)*/gm;

const environment = `# Read by daypass from the folder of gateway.yaml; variables of the environment come first. Holds secrets: keep it private.
OPENAI_API_KEY=
ANTHROPIC_API_KEY=
# Names of gateway.yaml for going live: payments, sign-ins, mails.
# MIDTRANS_SERVER_KEY=
# GOOGLE_CLIENT_ID=
# GOOGLE_CLIENT_SECRET=
# GITHUB_CLIENT_ID=
# GITHUB_CLIENT_SECRET=
# SMTP_PASSWORD=
# BASE_URL=https://ai.example.com
# NODE_ENV=production
# DATABASE_URL=postgres://user:password@host/daypass
# REDIS_URL=redis://host:6379
`;

const readme = (name: string) => `# ${name}
Run \`daypass start\` here: it prints the URL, a demo key and a curl command that works, and serves until Ctrl-C.
Models, plans and prices are in gateway.yaml, which a running gateway reloads; \`daypass check\` validates it.
Terms, privacy and other pages of the shop are Markdown files in pages/: drafts, until you have filled them in.
API keys of vendors go into .env. Customers, orders and requests are kept in data/, unless .env names a DATABASE_URL.
Documentation: the folder docs of the package (\`npm root --global\`/daypass/docs), beginning with README.md there.
`;

/**
 * Defines `daypass init`: creates a folder from which a gateway starts. It does not prompt: all settings have defaults, in files to edit.
 */
export function defineInit(parser: Parser, { print, log }: Pick<CoreCommandContext, 'print' | 'log'>): void {
  parser
    .command('init')
    .description('create a folder with gateway.yaml, .env and README.md, from which `daypass start` works')
    .argument('[folder]', 'the new folder, or an existing one without these files', '.')
    .option('--demo', 'with models that show failover, images, embeddings and the other kinds')
    .option('--pages', 'only drafts of terms, privacy, refunds and contact, from the gateway.yaml of the folder')
    .action(async (folder: string, { demo = false, pages = false }: InitOptions) => {
      const target = resolve(folder);
      if (pages) {
        loadEnvironmentFile(join(target, 'gateway.yaml'));
        return print(describeStarters(target, await createStarters(target, log, process.env)));
      }
      const yaml = await readFile(sample, 'utf8');
      await createAll(target, [
        ['gateway.yaml', demo ? yaml : yaml.replaceAll(showcase, '')],
        ['.env', environment],
        ['.gitignore', '.env\ndata/\n'],
        ['README.md', readme(basename(target))],
      ]);
      // Uses an empty environment: with NODE_ENV=production, as in the image, the demos of the new file would be refused.
      const names = (await createStarters(target, log, {})).map(({ name }) => `the folder ${name}`);
      const enter = target === process.cwd() ? '' : `cd ${folder} && `;
      const made = new Intl.ListFormat('en-GB').format(['gateway.yaml', '.env', 'README.md', ...names]);
      print(`${target} has ${made}. Next: ${enter}daypass start`);
    });
}

interface InitOptions {
  readonly demo?: boolean;
  readonly pages?: boolean;
}

interface Started {
  /** Name of the folder: `pages`. */
  readonly name: string;
  readonly written: readonly string[];
}

/** Writes the plugins' starter files, filled in from the folder's gateway.yaml. Existing files are kept. */
async function createStarters(
  folder: string,
  log: CoreCommandContext['log'],
  variables: NodeJS.ProcessEnv,
): Promise<Started[]> {
  const file = join(folder, 'gateway.yaml');
  const loaded = await createContext(() => file, log, variables).load();
  const { config, registry } = loaded;
  const host = reviewedHost(loaded, buildCatalog(config, registry.vendors, registry.formats));
  return Promise.all(
    registry.starterFiles.map(async ({ name, write }) => {
      const written: string[] = [];
      for (const [path, text] of await write(host))
        if (await createFile(resolve(folder, path), text)) written.push(path);
      return { name, written };
    }),
  );
}

function describeStarters(folder: string, started: readonly Started[]): string {
  const written = started.flatMap((one) => one.written);
  if (written.length === 0) return `${folder} has these pages already; none was written`;
  return `${written.join(', ')} ${written.length === 1 ? 'was' : 'were'} written. Fill in each {{…}}, and remove "draft: true"`;
}

/** @returns false if the file exists */
async function createFile(file: string, text: string): Promise<boolean> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw new CommandFailed(`${file} cannot be created (${codeOf(error)})`);
  }
}

/** Creates the files. Existing ones are kept, except that an existing gateway.yaml is an error: the folder is in use. */
async function createAll(folder: string, files: readonly (readonly [name: string, text: string])[]): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new CommandFailed(`${folder} cannot be created (${codeOf(error)}); ${another}`);
  }
  for (const [index, [name, text]] of files.entries()) {
    try {
      // Only the owner may read the file with the secrets.
      await writeFile(join(folder, name), text, { flag: 'wx', mode: name === '.env' ? 0o600 : 0o666 });
    } catch (error) {
      const doesExist = codeOf(error) === 'EEXIST';
      if (doesExist && index > 0) continue;
      const reason = doesExist ? 'exists already' : `cannot be created (${codeOf(error)})`;
      throw new CommandFailed(`${join(folder, name)} ${reason}; ${another}`);
    }
  }
}

const another = 'choose another folder: daypass init FOLDER';

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
