import { execFileSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** The programs of this machine that tests of the setup scripts run. */

export function hasCommand(name: string): boolean {
  return which(name) !== undefined;
}

/**
 * The file of a program: not what a shell says, because printf and others are built into it.
 *
 * @throws Error when it is not on the PATH
 */
export function pathOf(name: string): string {
  const path = which(name);
  if (path === undefined) throw new Error(`${name} is not on the PATH`);
  return path;
}

function which(name: string): string | undefined {
  if (name === 'node') return process.execPath;
  if (name === 'python3') return findPython();
  return searchPath(name);
}

function searchPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':');
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

let python: { readonly path: string | undefined } | undefined;

/** The interpreter itself, asked for once: what pyenv puts on the PATH is a slow script that needs the rest of the PATH. */
function findPython(): string | undefined {
  python ??= { path: searchPath('python3') === undefined ? undefined : askPython() };
  return python.path;
}

function askPython(): string | undefined {
  try {
    return execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  } catch {
    return undefined;
  }
}
