import {
  appendFileSync,
  closeSync,
  type Dir,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  opendirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  ancestorsOf,
  codeOf,
  type FileIdentity,
  identityOf,
  isThere,
  lookUp,
  partOf,
  removeIfPossible,
  unmounted,
  writeAll,
  writePart,
} from './files.ts';

export interface OpenFile extends FileIdentity {
  readonly file: number;
}

export interface FolderEntry {
  readonly name: string;
  readonly isFile: boolean;
  readonly bytes: number;
}

/** Limits of one step of a listing: lines wait during a step, and the thread has little memory. */
const listing = { ms: 20, entries: 1_000 };
const openListings = new Map<number, Dir>();

/**
 * The journal's operations on its folder, except for appending lines. Each returns when the disk has answered, which may be never, so a
 * running process calls them in a separate thread; a start calls them directly.
 */
export const operations = {
  /**
   * Creates a file for appending.
   *
   * @param room bytes that the disk must have free: an empty file can be created on a full disk
   * @param foreign devices on which the file must not be: its volume may have been unmounted since its folder was checked
   * @throws Error if there is no room for the file; no file is left then, unless it cannot be removed
   */
  create(path: string, room: number, foreign: readonly number[] = []): OpenFile {
    const file = openSync(path, 'ax+', 0o600);
    try {
      if (foreign.includes(fstatSync(file).dev)) throw unmounted(dirname(path));
      if (room > 0) {
        writeAll(file, Buffer.alloc(room), room);
        ftruncateSync(file);
      }
      return { file, ...identityOf(fstatSync(file)) };
    } catch (error) {
      removeIfPossible(path);
      closeSync(file);
      throw error;
    }
  },

  /** Opens a file for reading. */
  open(path: string): OpenFile {
    const file = openSync(path, 'r');
    try {
      return { file, ...identityOf(fstatSync(file)) };
    } catch (error) {
      closeSync(file);
      throw error;
    }
  },

  read(file: number, position: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    const read = readSync(file, bytes, 0, length, position);
    return read === length ? bytes : bytes.slice(0, read);
  },

  close(file: number): void {
    closeSync(file);
  },

  /** True if the file at this path is this one. */
  isAt(path: string, { dev, ino }: FileIdentity): boolean {
    const found = lookUp(path);
    return found?.ino === ino && found.dev === dev;
  },

  /** Removes the file at this path, if it is this one. */
  removeOwn(path: string, own: FileIdentity): void {
    if (operations.isAt(path, own)) rmSync(path, { force: true });
  },

  remove(path: string): void {
    rmSync(path, { force: true });
  },

  /**
   * Writes bytes, or the content of an open file, to a new file, which appears at its path only when it is complete.
   *
   * @param foreign as for `create`
   * @throws Error if that fails; no file is left then
   */
  restore(path: string, from: number | Uint8Array, foreign: readonly number[] = []): FileIdentity {
    const part = partOf(path);
    try {
      const own = writePart(part, from, foreign);
      giveName(part, path);
      return own;
    } finally {
      removeIfPossible(part);
    }
  },

  /**
   * Renames a file that a dead instance was restoring to its final name, unless a complete file has that name.
   *
   * @throws Error if that fails; the file is left then
   */
  adopt(path: string): void {
    const part = partOf(path);
    try {
      giveName(part, path);
    } catch (error) {
      // Another instance has adopted it.
      if (!isThere(part)) return;
      if (!isThere(path)) throw error;
    }
    rmSync(part, { force: true });
  },

  /**
   * Recreates the folder if it is gone, unless it would be on one of these devices.
   *
   * @throws Error with the reason why the folder cannot be used, and the remedy
   */
  ensureFolder(path: string, foreign: readonly number[]): void {
    const found = lookUp(path);
    if (found?.isDirectory() === false) throw new Error(`${path} is no longer a folder; remove what is in its place`);
    const place =
      found ??
      ancestorsOf(path)
        .map(lookUp)
        .find((stats) => stats !== undefined);
    if (place !== undefined && foreign.includes(place.dev)) throw unmounted(path);
    if (found === undefined) mkdirSync(path, { recursive: true, mode: 0o700 });
  },

  /**
   * Returns the next entries of a folder; none if it is gone. Call it until `isOver`.
   *
   * @param id of the listing, which starts with the first call
   */
  list(id: number, folder: string): { readonly entries: FolderEntry[]; readonly isOver: boolean } {
    const entries: FolderEntry[] = [];
    const opened = openListings.get(id) ?? openFolder(folder);
    if (opened === undefined) return { entries, isOver: true };
    openListings.set(id, opened);
    const until = performance.now() + listing.ms;
    do {
      const entry = opened.readSync();
      if (entry === null) {
        operations.endList(id);
        return { entries, isOver: true };
      }
      const { name } = entry;
      entries.push({ name, isFile: entry.isFile(), bytes: lookUp(join(folder, name))?.size ?? 0 });
    } while (entries.length < listing.entries && performance.now() < until);
    return { entries, isOver: false };
  },

  /** Ends a listing early. */
  endList(id: number): void {
    openListings.get(id)?.closeSync();
    openListings.delete(id);
  },

  /** The text of a file and the time it was last touched, in ms; undefined if there is no such file. */
  readText(path: string): { readonly text: string; readonly touchedAt: number } | undefined {
    try {
      return { text: readFileSync(path, 'utf8'), touchedAt: statSync(path).mtimeMs };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  },

  /** Writes a new file. @throws Error if the file exists */
  writeNew(path: string, text: string): void {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  },

  /** @returns false if there is no such file */
  touch(path: string): boolean {
    const now = new Date();
    try {
      utimesSync(path, now, now);
      return true;
    } catch (error) {
      return codeOf(error) !== 'ENOENT';
    }
  },

  /** Writes a file atomically: after a crash it is complete or absent. Creates its folder. */
  writeWhole(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(partOf(path), text, { mode: 0o600 });
    renameSync(partOf(path), path);
  },

  /** Appends a line to a file. Creates its folder. */
  appendLine(path: string, line: string): void {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendFileSync(path, `${line}\n`, { mode: 0o600 });
  },
};

export type Operations = typeof operations;

/** Operations that create a file and return its identity. */
export const makesFile: ReadonlySet<keyof Operations> = new Set(['create', 'restore']);

function openFolder(path: string): Dir | undefined {
  try {
    return opendirSync(path, { bufferSize: listing.entries });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

function giveName(part: string, path: string): void {
  const own = identityOf(statSync(part));
  try {
    linkSync(part, path);
  } catch (error) {
    // NFS retries after a lost reply, and then reports that the link exists.
    if (operations.isAt(path, own)) return;
    // File systems without hard links, and security modules that forbid them, refuse with errors of all kinds.
    if (codeOf(error) === 'EEXIST' || isThere(path)) throw error;
    renameSync(part, path);
  }
}
