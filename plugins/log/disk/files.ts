import { closeSync, fstatSync, openSync, readSync, rmSync, type Stats, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Identifies a file independently of its path. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
}

const copyBytes = 256 * 1024;

/** The folders above, up to the root. */
export function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestorsOf(parent)];
}

export function unmounted(folder: string): Error {
  return new Error(`the volume of ${folder} is not mounted; mount it`);
}

export function lookUp(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** @throws Error if that cannot be determined */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

export function identityOf({ dev, ino }: Stats): FileIdentity {
  return { dev, ino };
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** The name of a file while it is incomplete. */
export function partOf(path: string): string {
  return `${path}.part`;
}

/** @throws Error also for failures that only closing a file reports, such as a quota of a network file system */
export function writePart(part: string, from: number | Uint8Array, foreign: readonly number[]): FileIdentity {
  let copy: number | undefined = openSync(part, 'w', 0o600);
  try {
    if (foreign.includes(fstatSync(copy).dev)) throw unmounted(dirname(part));
    if (typeof from !== 'number') writeAll(copy, from, from.length);
    else copyAll(from, copy);
    const own = identityOf(fstatSync(copy));
    const written = copy;
    copy = undefined;
    closeSync(written);
    return own;
  } finally {
    if (copy !== undefined) closeSync(copy);
  }
}

/** A remaining file has no record, or is adopted once its instance is found dead. */
export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Ignored: the file is complete, or another error has been reported.
  }
}

function copyAll(from: number, to: number): void {
  const buffer = Buffer.allocUnsafe(copyBytes);
  for (let position = 0, length = 0; ; position += length) {
    length = readSync(from, buffer, 0, copyBytes, position);
    if (length === 0) return;
    writeAll(to, buffer, length);
  }
}

export function writeAll(file: number, bytes: Uint8Array, length: number): void {
  for (let offset = 0; offset < length;) offset += writeSync(file, bytes, offset, length - offset);
}
