import {
  appendFileSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** A file, whatever its path is now. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
}

export interface OpenFile extends FileIdentity {
  readonly file: number;
}

const copyBytes = 256 * 1024;

/**
 * What the journal does in its folder besides appending lines. Each returns when the disk has answered, which may be never, so a
 * running process calls them in a thread of their own; a start calls them itself.
 */
export const operations = {
  /**
   * Makes a file to append to.
   *
   * @param room bytes that the disk must have free: an empty file can be created on a full disk
   * @throws Error when there is no place for it; no file is left then
   */
  create(path: string, room: number): OpenFile {
    const file = openSync(path, 'ax+', 0o600);
    try {
      if (room > 0) {
        writeAll(file, Buffer.alloc(room), room);
        ftruncateSync(file);
      }
      return { file, ...identityOf(fstatSync(file)) };
    } catch (error) {
      closeSync(file);
      rmSync(path, { force: true });
      throw error;
    }
  },

  /** Opens a file to read it. */
  open(path: string): OpenFile {
    const file = openSync(path, 'r');
    return { file, ...identityOf(fstatSync(file)) };
  },

  read(file: number, position: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    const read = readSync(file, bytes, 0, length, position);
    return read === length ? bytes : bytes.slice(0, read);
  },

  close(file: number): void {
    closeSync(file);
  },

  /** True while this file is at this path. */
  isAt(path: string, { dev, ino }: FileIdentity): boolean {
    const found = lookUp(path);
    return found?.ino === ino && found.dev === dev;
  },

  /** Removes what is at this path, if it is this file. */
  removeOwn(path: string, own: FileIdentity): void {
    if (operations.isAt(path, own)) rmSync(path, { force: true });
  },

  remove(path: string): void {
    rmSync(path, { force: true });
  },

  /** Writes bytes, or what an open file has, to a new file. @throws Error when that is not possible; no file is left then */
  restore(path: string, from: number | Uint8Array): FileIdentity {
    const copy = openSync(path, 'wx', 0o600);
    try {
      if (typeof from !== 'number') writeAll(copy, from, from.length);
      else copyAll(from, copy);
      return identityOf(fstatSync(copy));
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    } finally {
      closeSync(copy);
    }
  },

  /**
   * Makes the folder again if it is gone, unless that would be on one of these devices.
   *
   * @throws Error that says why the folder cannot be used and what to do
   */
  ensureFolder(path: string, foreign: readonly number[]): void {
    const found = lookUp(path);
    if (found?.isDirectory() === false) throw new Error(`${path} is no longer a folder; remove what is in its place`);
    const place =
      found ??
      ancestorsOf(path)
        .map(lookUp)
        .find((stats) => stats !== undefined);
    if (place !== undefined && foreign.includes(place.dev))
      throw new Error(`the volume of ${path} is not mounted; mount it`);
    if (found === undefined) mkdirSync(path, { recursive: true, mode: 0o700 });
  },

  /** What is in a folder; nothing while it is gone. */
  list(folder: string): { readonly name: string; readonly isFile: boolean; readonly bytes: number }[] {
    try {
      return readdirSync(folder, { withFileTypes: true }).map((entry) => ({
        name: entry.name,
        isFile: entry.isFile(),
        bytes: lookUp(join(folder, entry.name))?.size ?? 0,
      }));
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return [];
      throw error;
    }
  },

  /** The text of a file and when it was touched, in ms; undefined where there is none. */
  readText(path: string): { readonly text: string; readonly touchedAt: number } | undefined {
    try {
      return { text: readFileSync(path, 'utf8'), touchedAt: statSync(path).mtimeMs };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  },

  /** Writes a new file. @throws Error where there is one */
  writeNew(path: string, text: string): void {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  },

  /** @returns false where there is no file */
  touch(path: string): boolean {
    const now = new Date();
    try {
      utimesSync(path, now, now);
      return true;
    } catch (error) {
      return codeOf(error) !== 'ENOENT';
    }
  },

  /** Writes a file that is complete or absent: after a crash, all of it is read. Makes its folder. */
  writeWhole(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.part`, text, { mode: 0o600 });
    renameSync(`${path}.part`, path);
  },

  /** Appends a line to a file of a folder that has at most this many bytes. Makes the folder. */
  appendLine(path: string, line: string, maxBytes: number): void {
    const folder = dirname(path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    if (bytes + line.length > maxBytes) throw new Error(`the folder has reached its limit of ${maxBytes} bytes`);
    appendFileSync(path, `${line}\n`, { mode: 0o600 });
  },
};

export type Operations = typeof operations;

/** The folders above, up to the root. */
export function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestorsOf(parent)];
}

function lookUp(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function identityOf({ dev, ino }: Stats): FileIdentity {
  return { dev, ino };
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

function copyAll(from: number, to: number): void {
  const buffer = Buffer.allocUnsafe(copyBytes);
  for (let position = 0, length = 0; ; position += length) {
    length = readSync(from, buffer, 0, copyBytes, position);
    if (length === 0) return;
    writeAll(to, buffer, length);
  }
}

function writeAll(file: number, bytes: Uint8Array, length: number): void {
  for (let offset = 0; offset < length;) offset += writeSync(file, bytes, offset, length - offset);
}
