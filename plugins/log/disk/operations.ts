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
  listAncestors,
  codeOf,
  type FileIdentity,
  identityOf,
  exists,
  statIfPossible,
  createPartPath,
  tryRemove,
  createUnmountedError,
  writeAll,
  writeNewFile,
} from './files.ts';

export interface OpenFile extends FileIdentity {
  readonly file: number; // descriptor
}

export interface FolderEntry {
  readonly name: string;
  readonly isFile: boolean;
  readonly bytes: number;
}

const listingStep = { ms: 20, entries: 1_000 }; // lines wait during a step, and the thread has little memory
const openListings = new Map<number, Dir>();

/**
 * What the journal does with its folder, except appending lines. An operation returns when the disk has responded, which may be never. A
 * running process therefore calls them in a thread; only startup calls them directly.
 */
export const operations = {
  /**
   * @param requiredBytes bytes that must be free on the disk; an empty file can be created even on a full one
   * @param forbiddenDevices devices on which the file must not be: its volume may have been unmounted since its folder was checked
   * @throws Error if the disk is full; the file is then removed, if possible
   */
  create(path: string, requiredBytes: number, forbiddenDevices: readonly number[] = []): OpenFile {
    const file = openSync(path, 'ax+', 0o600);
    try {
      if (forbiddenDevices.includes(fstatSync(file).dev)) throw createUnmountedError(dirname(path));
      if (requiredBytes > 0) {
        writeAll(file, Buffer.alloc(requiredBytes), requiredBytes);
        ftruncateSync(file);
      }
      return { file, ...identityOf(fstatSync(file)) };
    } catch (error) {
      tryRemove(path);
      closeSync(file);
      throw error;
    }
  },

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
    const readBytes = readSync(file, bytes, 0, length, position);
    return readBytes === length ? bytes : bytes.slice(0, readBytes);
  },

  close(file: number): void {
    closeSync(file);
  },

  isAt(path: string, { dev, ino }: FileIdentity): boolean {
    const stats = statIfPossible(path);
    return stats?.ino === ino && stats.dev === dev;
  },

  removeOwn(path: string, identity: FileIdentity): void {
    if (operations.isAt(path, identity)) rmSync(path, { force: true });
  },

  remove(path: string): void {
    rmSync(path, { force: true });
  },

  /**
   * Writes bytes, or the content of an open file. The new file appears at its path only when it is complete; after a failure, none remains.
   */
  restore(path: string, source: number | Uint8Array, forbiddenDevices: readonly number[] = []): FileIdentity {
    const part = createPartPath(path);
    try {
      const identity = writeNewFile(part, source, forbiddenDevices);
      linkOrRename(part, path);
      return identity;
    } finally {
      tryRemove(part);
    }
  },

  /**
   * Gives its final name to a file that a dead instance was restoring, unless a complete file already has that name. After a failure, the
   * file keeps its name.
   */
  adopt(path: string): void {
    const part = createPartPath(path);
    try {
      linkOrRename(part, path);
    } catch (error) {
      // Another instance has adopted it.
      if (!exists(part)) return;
      if (!exists(path)) throw error;
    }
    rmSync(part, { force: true });
  },

  /** @throws Error that says why the folder cannot be used, and what to do */
  ensureFolder(path: string, forbiddenDevices: readonly number[]): void {
    const folder = statIfPossible(path);
    if (folder?.isDirectory() === false) throw new Error(`${path} is no longer a folder; remove what is in its place`);
    const nearestFolder =
      folder ??
      listAncestors(path)
        .map(statIfPossible)
        .find((stats) => stats !== undefined);
    if (nearestFolder !== undefined && forbiddenDevices.includes(nearestFolder.dev)) throw createUnmountedError(path);
    if (folder === undefined) mkdirSync(path, { recursive: true, mode: 0o700 });
  },

  /**
   * Returns no entries if the folder does not exist. The caller must continue until `isOver` is true, or call `endList`.
   *
   * @param id id of the listing, which starts with the first call
   */
  list(id: number, folder: string): { readonly entries: FolderEntry[]; readonly isOver: boolean } {
    const entries: FolderEntry[] = [];
    const directory = openListings.get(id) ?? openFolder(folder);
    if (directory === undefined) return { entries, isOver: true };
    openListings.set(id, directory);
    const endsAt = performance.now() + listingStep.ms;
    do {
      const entry = directory.readSync();
      if (entry === null) {
        operations.endList(id);
        return { entries, isOver: true };
      }
      const { name } = entry;
      entries.push({ name, isFile: entry.isFile(), bytes: statIfPossible(join(folder, name))?.size ?? 0 });
    } while (entries.length < listingStep.entries && performance.now() < endsAt);
    return { entries, isOver: false };
  },

  endList(id: number): void {
    openListings.get(id)?.closeSync();
    openListings.delete(id);
  },

  readText(path: string): { readonly text: string; readonly touchedAt: number } | undefined {
    try {
      return { text: readFileSync(path, 'utf8'), touchedAt: statSync(path).mtimeMs };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  },

  writeNew(path: string, text: string): void {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  },

  touch(path: string): boolean {
    const now = new Date();
    try {
      utimesSync(path, now, now);
      return true;
    } catch (error) {
      return codeOf(error) !== 'ENOENT';
    }
  },

  /** Writes the file atomically, so that it is complete or missing after a crash. */
  writeWhole(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(createPartPath(path), text, { mode: 0o600 });
    renameSync(createPartPath(path), path);
  },

  appendLine(path: string, line: string): void {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendFileSync(path, `${line}\n`, { mode: 0o600 });
  },
};

export type Operations = typeof operations;

export const fileCreatingOperations: ReadonlySet<keyof Operations> = new Set(['create', 'restore']);

function openFolder(path: string): Dir | undefined {
  try {
    return opendirSync(path, { bufferSize: listingStep.entries });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

function linkOrRename(part: string, path: string): void {
  const identity = identityOf(statSync(part));
  try {
    linkSync(part, path);
  } catch (error) {
    // If NFS loses a reply, it retries and then reports that the link exists.
    if (operations.isAt(path, identity)) return;
    // Where hard links do not exist or a security module forbids them, many kinds of errors are reported.
    if (codeOf(error) === 'EEXIST' || exists(path)) throw error;
    renameSync(part, path);
  }
}
