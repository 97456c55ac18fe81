import { closeSync, fstatSync, openSync, readSync, rmSync, type Stats, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
}

const copyBufferBytes = 256 * 1024;

export function listAncestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...listAncestors(parent)];
}

export function createUnmountedError(folder: string): Error {
  return new Error(`the volume of ${folder} is not mounted; mount it`);
}

export function statIfPossible(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** @throws Error if that cannot be determined */
export function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

export function identityOf({ dev, ino }: Stats): FileIdentity {
  return { dev, ino };
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

export function createPartPath(path: string): string {
  return `${path}.part`;
}

/**
 * @param source bytes, or the descriptor of a file whose content is copied
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

/** If the file stays, it has no record, or is adopted once its instance is found dead. */
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

export function writeAll(file: number, bytes: Uint8Array, length: number): void {
  for (let offset = 0; offset < length;) offset += writeSync(file, bytes, offset, length - offset);
}
