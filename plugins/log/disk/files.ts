import { closeSync, fstatSync, openSync, readSync, rmSync, type Stats, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Identifies a file, whatever its path. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
}

const copyBufferBytes = 256 * 1024;

/** Lists the folders above a path, up to the root. */
export function listAncestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...listAncestors(parent)];
}

/** Creates the error for a folder whose volume is not mounted. */
export function createUnmountedError(folder: string): Error {
  return new Error(`the volume of ${folder} is not mounted; mount it`);
}

/** Returns what `stat` says about a file, or undefined if it fails. */
export function statIfPossible(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Returns true if the file exists.
 *
 * @throws Error if that cannot be determined
 */
export function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

export function identityOf({ dev, ino }: Stats): FileIdentity {
  return { dev, ino };
}

/** Returns the code of a system error, or '' for other errors. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** Returns the path that a file has while it is incomplete. */
export function createPartPath(path: string): string {
  return `${path}.part`;
}

/**
 * Writes bytes, or the content of an open file, to a new file.
 *
 * @param forbiddenDevices see `create` in operations.ts
 * @throws Error even for failures that are only reported when the file is closed, such as a quota of a network file system
 */
export function writeNewFile(
  path: string,
  source: number | Uint8Array,
  forbiddenDevices: readonly number[],
): FileIdentity {
  let target: number | undefined = openSync(path, 'w', 0o600);
  try {
    if (forbiddenDevices.includes(fstatSync(target).dev)) throw createUnmountedError(dirname(path));
    if (typeof source !== 'number') writeAll(target, source, source.length);
    else copyAll(source, target);
    const identity = identityOf(fstatSync(target));
    // Cleared first: if closing fails, the number may already belong to another file and must not be closed again.
    const openTarget = target;
    target = undefined;
    closeSync(openTarget);
    return identity;
  } finally {
    if (target !== undefined) closeSync(target);
  }
}

/** Removes a file if possible. If it stays, it has no record, or is adopted once its instance is found dead. */
export function tryRemove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Ignored: the file is complete, or another error has been reported.
  }
}

function copyAll(source: number, target: number): void {
  const buffer = Buffer.allocUnsafe(copyBufferBytes);
  for (let position = 0, length = 0; ; position += length) {
    length = readSync(source, buffer, 0, copyBufferBytes, position);
    if (length === 0) return;
    writeAll(target, buffer, length);
  }
}

/** Writes all bytes at the current position. */
export function writeAll(file: number, bytes: Uint8Array, length: number): void {
  for (let offset = 0; offset < length;) offset += writeSync(file, bytes, offset, length - offset);
}
