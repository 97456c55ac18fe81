import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Text files in a folder next to gateway.yaml. */
export interface FolderSpec {
  /** Absolute, or relative to gateway.yaml. May be missing. */
  readonly folder: string;
  /** Names of files to read; others are ignored. */
  readonly names: RegExp;
  readonly maxBytes: number; // per file
  readonly maxFiles: number;
}

/** Text of a file without a byte order mark, or the mistake (`wrong`) and its remedy (`right`). */
export type FolderFile = { readonly text: string } | { readonly wrong: string; readonly right: string };

export interface FolderFiles {
  readonly files: ReadonlyMap<string, FolderFile>; // by name, in alphabetical order
  readonly digest: string; // of names and contents; empty for an empty or missing folder
  readonly watched: readonly string[]; // paths to watch for changes
}

export const emptyFolder: FolderFiles = { files: new Map(), digest: '', watched: [] };

/**
 * Reads the files synchronously, so that a reload sees no half-finished edit. Follows links, because the files of a ConfigMap are links
 * into a folder that is replaced as a whole.
 *
 * @param folder absolute path
 */
export function readFolder(folder: string, { names, maxBytes, maxFiles }: FolderSpec): FolderFiles {
  let matchingNames: string[];
  try {
    matchingNames = readdirSync(folder).filter((name) => names.test(name));
  } catch {
    return { ...emptyFolder, watched: [folder] };
  }
  const sortedNames = matchingNames.toSorted();
  const files = new Map<string, FolderFile>();
  const hash = createHash('sha256');
  for (const name of sortedNames.slice(0, maxFiles)) {
    const file = readFile(join(folder, name), maxBytes);
    files.set(name, file);
    hash.update(`${name}\0${'text' in file ? file.text : file.wrong}\0`);
  }
  const firstIgnored = sortedNames[maxFiles];
  if (firstIgnored !== undefined)
    files.set(firstIgnored, {
      wrong: `is one of ${matchingNames.length} files, but at most ${maxFiles} are read`,
      right: 'remove some',
    });
  const paths = [...files.keys()].map((name) => join(folder, name));
  // The name `*` never exists; watching it covers the folder, so that files added later are noticed.
  return { files, digest: files.size === 0 ? '' : hash.digest('hex'), watched: [folder, join(folder, '*'), ...paths] };
}

function readFile(path: string, maxBytes: number): FolderFile {
  let handle: number;
  try {
    // Non-blocking, because opening a named pipe would wait for a writer.
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return {
      wrong: `cannot be read (${(error as NodeJS.ErrnoException).code})`,
      right: 'give the gateway read permission',
    };
  }
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) return { wrong: 'is not a regular file', right: 'replace it with one' };
    if (stats.size > maxBytes) return { wrong: `is longer than ${maxBytes} bytes`, right: 'shorten it' };
    const bytes = readFileSync(handle);
    if (!isUtf8(bytes) || bytes.includes(0)) return { wrong: 'is not text', right: 'save it as UTF-8' };
    return { text: bytes.toString('utf8').replace(/^\uFEFF/, '') };
  } finally {
    closeSync(handle);
  }
}
