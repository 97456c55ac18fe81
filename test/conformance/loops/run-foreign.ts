import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Ended, runProcess } from '../../support/run-process.ts';
import type { ForeignClient, Language } from './clients.ts';

/** Ms that a command may take. Go compiles its SDKs for minutes when it has no cache of them. */
const timeout = 20 * 60_000;
const programs = join(import.meta.dirname, '..', 'clients');
const installations = join(homedir(), '.cache', 'daypass-conformance');

/** A language whose clients can run. */
export interface Installation {
  readonly language: Language;
  readonly folder: string;
  readonly pins: string;
}

/** Why the clients of a language do not run. `isFault` when it is not for want of a toolchain or registry. */
export interface Missing {
  readonly reason: string;
  readonly isFault: boolean;
}

/**
 * Installs the SDKs of a language unless they are there already, in a folder named after the content of its pins, and builds
 * its programs. A file in the folder says that the installation is complete.
 */
export async function installLanguage(language: Language): Promise<Installation | Missing> {
  for (const command of language.toolchain) {
    if (!(await canRun(command))) return { reason: `${command} is not installed`, isFault: false };
  }
  const pins = await readFile(join(programs, language.name, language.pins), 'utf8');
  const digest = createHash('sha256').update(pins).digest('hex').slice(0, 12);
  const installation = { language, folder: join(installations, `${language.name}-${digest}`), pins };
  const reason = await install(installation);
  if (reason !== undefined) return { reason, isFault: false };
  const fault = language.build && (await runOrExplain(installation, language.build));
  return fault === undefined ? installation : { reason: fault, isFault: true };
}

async function install(installation: Installation): Promise<string | undefined> {
  const { folder, language } = installation;
  const complete = join(folder, 'complete');
  if (await isThere(complete)) return undefined;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const command of language.install) {
    const reason = await runOrExplain(installation, command);
    if (reason !== undefined) return reason;
  }
  await writeFile(complete, '');
  return undefined;
}

/** Plays the loops of a client. */
export function runForeign(
  { id, language }: ForeignClient,
  installation: Installation,
  variables: Readonly<Record<string, string>>,
): Promise<Ended> {
  return run(installation, `${language.start} ${id}`, variables);
}

export function versionOf({ sdk }: ForeignClient, { pins }: Installation): string {
  return /\d+\.\d+\.\d+/.exec(pins.slice(pins.indexOf(sdk) + sdk.length))?.[0] ?? 'of unknown version';
}

async function runOrExplain(installation: Installation, command: string): Promise<string | undefined> {
  const { code, out, errors } = await run(installation, command, {});
  return code === 0 ? undefined : `${command} ended with ${code}: ${lastLine(errors || out)}`;
}

function run(
  { folder, language }: Installation,
  command: string,
  variables: Readonly<Record<string, string>>,
): Promise<Ended> {
  const words = command.split(' ').map((word) => word.replaceAll('CACHE', folder));
  const environment = { ...(process.env as Record<string, string>), ...variables };
  return runProcess(words, { cwd: join(programs, language.name), environment, timeout });
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
