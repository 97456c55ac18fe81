import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Ms; the largest packages have some gigabytes. */
const longestInstallation = 1_800_000;

/** Python packages of one server. */
export interface Packages {
  readonly name: string;
  readonly requirements: readonly string[];
  /** Versions in place of those that a package demands: of builds that PyPI does not have. */
  readonly overrides?: readonly string[];
}

/**
 * Installs packages into a virtual environment of their own below the cache, unless they are there. `uv` shares equal files
 * between the environments.
 *
 * @returns path of the environment's Python
 * @throws Error with the last lines of the installer
 */
export async function installServer(cache: string, { name, requirements, overrides = [] }: Packages): Promise<string> {
  const folder = join(cache, name);
  const python = join(folder, 'bin', 'python');
  const mark = join(folder, 'installed.txt');
  const wanted = [...requirements, ...overrides].join('\n');
  if (existsSync(mark) && existsSync(python) && (await isSame(mark, wanted))) return python;
  const uv = await installUv(cache);
  await rm(folder, { recursive: true, force: true });
  const options = { timeout: longestInstallation, env: { ...process.env, UV_HTTP_TIMEOUT: '300' } };
  await quietly(uv, ['venv', '--quiet', folder], options);
  const file = join(cache, `${name}-overrides.txt`);
  await writeFile(file, overrides.join('\n'));
  await quietly(uv, ['pip', 'install', '--quiet', '--python', python, '--override', file, ...requirements], options);
  await writeFile(mark, wanted);
  return python;
}

async function isSame(file: string, wanted: string): Promise<boolean> {
  return (await readFile(file, 'utf8')) === wanted;
}

async function installUv(cache: string): Promise<string> {
  const uv = join(cache, 'uv', 'bin', 'uv');
  if (existsSync(uv)) return uv;
  await mkdir(cache, { recursive: true });
  await quietly('python3', ['-m', 'venv', join(cache, 'uv')], { timeout: longestInstallation });
  await quietly(join(cache, 'uv', 'bin', 'pip'), ['install', '--quiet', 'uv'], { timeout: longestInstallation });
  return uv;
}

/** @throws Error with the last lines that the program has written */
export async function quietly(
  program: string,
  parameters: readonly string[],
  options: { readonly timeout: number; readonly env?: NodeJS.ProcessEnv },
): Promise<void> {
  try {
    await run(program, parameters, { ...options, maxBuffer: 64 * 1_024 * 1_024 });
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    throw new Error(stderr.trim().split('\n').slice(-3).join(' ').slice(0, 400) || message, { cause: error });
  }
}
