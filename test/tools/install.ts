import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { runProcess } from '../support/run-process.ts';
import type { Cli } from './clis.ts';

export interface InstalledCli extends Cli {
  /** The folder of its command. */
  readonly folder: string;
}

const timeout = 15 * 60_000; // ms

/**
 * Installs the CLI unless it is there already. Each has a folder, named after its version.
 *
 * @throws Error with the installer's last words when the version cannot be had
 */
export async function installCli(cli: Cli, cache: string): Promise<InstalledCli> {
  const place = join(cache, `${cli.id}-${cli.version}`);
  return cli.registry === 'npm' ? installFromNpm(cli, cache, place) : installFromPypi(cli, place);
}

/** Into a virtual environment, whose programs have its path in them: it is made in its place. `PYTHON` is the interpreter. */
async function installFromPypi(cli: Cli, place: string): Promise<InstalledCli> {
  const folder = join(place, 'bin');
  if (await hasCommand(folder, cli)) return { ...cli, folder };
  await rm(place, { recursive: true, force: true });
  await mkdir(place, { recursive: true });
  const python = process.env['PYTHON'] ?? 'python3';
  const pip = [
    join(folder, 'pip'),
    'install',
    '--quiet',
    '--disable-pip-version-check',
    `${cli.package}==${cli.version}`,
  ];
  try {
    for (const words of [[python, '-m', 'venv', place], pip]) await install(words, place);
    if (!(await hasCommand(folder, cli))) throw new Error(`it has no command ${cli.command}`);
  } catch (error) {
    await rm(place, { recursive: true, force: true });
    throw error;
  }
  return { ...cli, folder };
}

/** The folder appears once the installation is complete. */
async function installFromNpm(cli: Cli, cache: string, place: string): Promise<InstalledCli> {
  const folder = join(place, 'node_modules', '.bin');
  if (await hasCommand(folder, cli)) return { ...cli, folder };
  await mkdir(cache, { recursive: true });
  const cwd = await mkdtemp(join(cache, 'unfinished-'));
  try {
    await writeFile(join(cwd, 'package.json'), '{ "private": true }\n');
    const npm = ['npm', 'install', '--no-audit', '--no-fund', '--loglevel=error', `${cli.package}@${cli.version}`];
    await install(npm, cwd);
    if (!(await hasCommand(join(cwd, 'node_modules', '.bin'), cli)))
      throw new Error(`it has no command ${cli.command}`);
    await rm(place, { recursive: true, force: true });
    await rename(cwd, place);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
  return { ...cli, folder };
}

async function install(words: readonly string[], cwd: string): Promise<void> {
  const { code, out, errors, isTimeout } = await runProcess(words, { cwd, environment: environmentIn(cwd), timeout });
  const [program = ''] = words;
  if (isTimeout) throw new Error(`${basename(program)} did not finish within ${timeout / 60_000} minutes`);
  if (code !== 0) throw new Error(`${basename(program)} ended with ${code}: ${reasonOf(errors || out)}`);
}

async function hasCommand(folder: string, { command }: Cli): Promise<boolean> {
  return access(join(folder, command), constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Tools write into the home folder when they are installed: that of the user stays as it is, but for npm's own files. */
function environmentIn(home: string): Record<string, string> {
  const { XDG_CONFIG_HOME: _config, XDG_DATA_HOME: _data, ...inherited } = process.env;
  const ofNpm = { npm_config_userconfig: join(homedir(), '.npmrc'), npm_config_cache: join(homedir(), '.npm') };
  return { ...ofNpm, ...(inherited as Record<string, string>), HOME: home };
}

/** The first lines in which the installer says why. */
function reasonOf(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/^(?:npm error|ERROR:) */, '').trim());
  return lines
    .filter((line) => line !== '')
    .slice(0, 3)
    .join(' / ');
}
