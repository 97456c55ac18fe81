import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ended, runProcess } from '../../tools/run-process.ts';
import type { ForeignClient } from './clients.ts';

const timeout = 10 * 60_000; // ms
const programs = join(import.meta.dirname, '..', 'clients');

/**
 * Installs a client unless it is there already, in a folder named after its version; a file in it says that the
 * installation is complete.
 *
 * @returns why it is skipped, or undefined once it is there
 */
export async function installForeign(client: ForeignClient, folder: string): Promise<string | undefined> {
  for (const command of client.toolchain) {
    if (!(await canRun(command))) return `${command} is not installed`;
  }
  const complete = join(folder, 'complete');
  if (await isThere(complete)) return undefined;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const command of client.install) {
    const { code, errors, out } = await runIn(folder, command, client, {});
    if (code !== 0) return `${command[0]} ended with ${code}: ${lastLine(errors || out)}`;
  }
  await writeFile(complete, '');
  return undefined;
}

/** Runs an installed client. */
export async function runForeign(
  client: ForeignClient,
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<Ended> {
  return runIn(folder, client.start, client, variables);
}

function runIn(
  cwd: string,
  command: readonly string[],
  { program }: ForeignClient,
  variables: Readonly<Record<string, string>>,
): Promise<Ended> {
  const environment = { ...(process.env as Record<string, string>), ...variables };
  const written = command.map((word) => (word === 'PROGRAM' ? join(programs, program) : word));
  return runProcess(written, { cwd, environment, timeout });
}

async function canRun(command: string): Promise<boolean> {
  const folders = (process.env['PATH'] ?? '').split(':');
  const found = await Promise.all(folders.map((folder) => isThere(join(folder, command))));
  return found.includes(true);
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
