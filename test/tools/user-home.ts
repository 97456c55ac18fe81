import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type Ended, runProcess } from '../support/run-process.ts';
import type { InstalledCli } from './install.ts';

/** The clean home folder of somebody who has the tools installed, with terminals and the setup script. */
export interface UserHome extends AsyncDisposable {
  readonly folder: string;
  /** The folder of the home, the script and work folders. */
  readonly scratch: string;
  /** Runs a command in a new terminal, whose shell has read its profile. */
  terminal(words: readonly string[], options?: TerminalOptions): Promise<Ended>;
  /** Runs the setup script. The key is not among the parameters. */
  script(parameters: readonly string[], options?: TerminalOptions): Promise<Ended>;
  /** A file outside of the home with this key. @returns its path */
  keyFile(key: string): Promise<string>;
  /** A new, empty folder for work outside of the home. */
  workFolder(): Promise<string>;
}

export interface TerminalOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly timeout?: number; // ms
}

const scriptTimeout = 5 * 60_000; // ms
/** A shell that is not for logins reads no profile; this does what a login would. */
const asLogin = '[ ! -f "$HOME/.profile" ] || . "$HOME/.profile"; exec "$@"';

/** @param gateway its base URL, from which the script is loaded */
export async function openUserHome(gateway: string, clis: readonly InstalledCli[]): Promise<UserHome> {
  const scratch = await mkdtemp(join(tmpdir(), 'daypass-tools-'));
  const [folder, work, temporary] = ['home', 'work', 'tmp'].map((name) => join(scratch, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [folder, work, temporary]) await mkdir(made);
  const script = join(scratch, 'setup.sh');
  await writeFile(script, await loadScript(gateway));
  const path = [...clis.map((cli) => cli.folder), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'];
  const environment = {
    HOME: folder,
    PATH: path.join(delimiter),
    TMPDIR: temporary,
    SHELL: '/bin/sh',
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
  };
  const terminal: UserHome['terminal'] = (words, { cwd = work, environment: own = {}, timeout = scriptTimeout } = {}) =>
    runProcess(['sh', '-c', asLogin, 'sh', ...words], { cwd, environment: { ...environment, ...own }, timeout });
  return {
    folder,
    scratch,
    terminal,
    script: (parameters, options) => terminal(['sh', script, ...parameters], options),
    async keyFile(key) {
      const file = join(scratch, 'key');
      await writeFile(file, `${key}\n`, { mode: 0o600 });
      return file;
    },
    workFolder: () => mkdtemp(join(work, 'task-')),
    [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true, maxRetries: 3 }),
  };
}

async function loadScript(gateway: string): Promise<string> {
  const response = await fetch(`${gateway}/setup.sh`);
  if (!response.ok) throw new Error(`GET /setup.sh: ${response.status}`);
  return response.text();
}

/** Files below a folder in which one of the texts is, by their path in it. */
export async function filesWith(folder: string, texts: readonly string[]): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const content = await readFile(path);
    if (texts.some((text) => content.includes(text))) found.push(path.slice(folder.length + 1));
  }
  return found.toSorted();
}
