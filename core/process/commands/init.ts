import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command as Parser } from 'commander';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { loadEnvironmentFile } from '../environment-file.ts';
import { type CoreCommandContext, createContext } from './context.ts';
import { createReviewedHost } from './reviewed-host.ts';

const sampleFile = new URL('../../../gateway.yaml', import.meta.url);

const demoModels = /^ {2}demo-[a-z]+: .*\n(?: {4,}#.*\n)*/gm;

const environmentText = `# Read by daypass from the folder of gateway.yaml; environment variables take precedence. Contains secrets: keep it private.
OPENAI_API_KEY=
ANTHROPIC_API_KEY=
# Variables that gateway.yaml uses to go live: payments, sign-ins, mails.
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

const renderReadme = (name: string) => `# ${name}
Run \`daypass start\` in this folder. It prints the URL, a demo key and a working curl command, and serves until Ctrl-C.
- gateway.yaml has models, plans and prices. \`daypass check\` validates it; a running gateway reloads it when it changes.
- pages/ has drafts of terms, privacy and other pages of the shop, as Markdown files: fill them in.
- .env has vendors' API keys and other secrets. data/ holds customers, orders and requests, unless .env sets DATABASE_URL.
- For documentation, start with README.md in the folder docs of the package (\`npm root --global\`/daypass/docs).
`;

/** Asks no questions: the files provide defaults for all settings. */
export function defineInit(parser: Parser, { print, log }: Pick<CoreCommandContext, 'print' | 'log'>): void {
  parser
    .command('init')
    .description('create a folder with gateway.yaml, .env and README.md, ready for `daypass start`')
    .argument('[folder]', 'the new folder, or an existing one without these files', '.')
    .option('--demo', 'include models that demonstrate failover, images, embeddings and the other kinds')
    .option('--pages', 'only write drafts of terms, privacy, refunds and contact, based on the folder’s gateway.yaml')
    .action(async (folder: string, { demo = false, pages = false }: InitOptions) => {
      const target = resolve(folder);
      if (pages) {
        loadEnvironmentFile(join(target, 'gateway.yaml'));
        return print(describeStarters(target, await createStarters(target, log, process.env)));
      }
      const yaml = await readFile(sampleFile, 'utf8');
      await createFiles(target, [
        ['gateway.yaml', demo ? yaml : yaml.replaceAll(demoModels, '')],
        ['.env', environmentText],
        ['.gitignore', '.env\ndata/\n'],
        ['README.md', renderReadme(basename(target))],
      ]);
      // With NODE_ENV=production, as in the image, the demo models in the new file would be refused.
      const names = (await createStarters(target, log, {})).map(({ name }) => `the folder ${name}`);
      const changeFolder = target === process.cwd() ? '' : `cd ${folder} && `;
      const fileList = new Intl.ListFormat('en-GB').format(['gateway.yaml', '.env', 'README.md', ...names]);
      print(`${target} has ${fileList}. Next: ${changeFolder}daypass start`);
    });
}

interface InitOptions {
  readonly demo?: boolean;
  readonly pages?: boolean;
}

interface CreatedStarter {
  readonly name: string;
  readonly writtenPaths: readonly string[];
}

async function createStarters(
  folder: string,
  log: CoreCommandContext['log'],
  variables: NodeJS.ProcessEnv,
): Promise<CreatedStarter[]> {
  const file = join(folder, 'gateway.yaml');
  const loaded = await createContext(() => file, log, variables).load();
  const { config, registry } = loaded;
  const host = createReviewedHost(loaded, buildCatalog(config, registry.vendors, registry.formats));
  return Promise.all(
    registry.starterFiles.map(async ({ name, write }) => {
      const writtenPaths: string[] = [];
      for (const [path, text] of await write(host))
        if (await createFile(resolve(folder, path), text)) writtenPaths.push(path);
      return { name, writtenPaths };
    }),
  );
}

function describeStarters(folder: string, starters: readonly CreatedStarter[]): string {
  const paths = starters.flatMap(({ writtenPaths }) => writtenPaths);
  if (paths.length === 0) return `${folder} has these pages already; none was written`;
  return `${paths.join(', ')} ${paths.length === 1 ? 'was' : 'were'} written. Fill in each {{…}}, and remove "draft: true"`;
}

const otherFolderAdvice = 'choose another folder: daypass init FOLDER';

async function createFile(file: string, text: string): Promise<boolean> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw new CommandFailed(`${file} cannot be created (${getErrorCode(error)})`);
  }
}

async function createFiles(folder: string, files: readonly (readonly [name: string, text: string])[]): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new CommandFailed(`${folder} cannot be created (${getErrorCode(error)}); ${otherFolderAdvice}`);
  }
  for (const [index, [name, text]] of files.entries()) {
    try {
      // The file with the secrets must be readable only by its owner.
      await writeFile(join(folder, name), text, { flag: 'wx', mode: name === '.env' ? 0o600 : 0o666 });
    } catch (error) {
      const isExisting = getErrorCode(error) === 'EEXIST';
      // If the first file, gateway.yaml, exists, the folder is in use.
      if (isExisting && index > 0) continue;
      const reason = isExisting ? 'exists already' : `cannot be created (${getErrorCode(error)})`;
      throw new CommandFailed(`${join(folder, name)} ${reason}; ${otherFolderAdvice}`);
    }
  }
}

function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
