import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';

const settleTimeMs = 100; // without a change; editors write in several steps

interface FileWatch extends Disposable {
  refresh(): void;
}

/**
 * Calls back with the first content, and whenever the content of one of the files changes or one disappears. It watches the folder of each
 * file and of every link that leads to it, because editors and Kubernetes replace files, and deployments replace links.
 *
 * @param files evaluated at each check, because secret files change with the file that names them
 * @param onError called with a file that cannot be watched, once until it can be
 */
export function watchFiles(
  files: () => Iterable<string>,
  onChange: () => void,
  onError: (error: Error, file: string) => void,
): FileWatch {
  const watchers = new Map<string, FSWatcher>();
  const failed = new Set<string>();
  let digests: ReadonlyMap<string, string | undefined> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  let isOver = false;

  const refresh = () => {
    clearTimeout(timer);
    timer = setTimeout(lookNext, settleTimeMs);
  };
  const watchFolder = (folder: string, file: string) => {
    const watcher = watch(folder, refresh);
    watcher.on('error', (error) => onError(error, file));
    watcher.unref();
    watchers.set(folder, watcher);
  };
  const follow = async (file: string): Promise<string[]> => {
    const folders = await watchedFolders(file);
    try {
      for (const folder of folders) if (!isOver && !watchers.has(folder)) watchFolder(folder, file);
      failed.delete(file);
    } catch (error) {
      if (!failed.has(file)) onError(error as Error, file);
      failed.add(file);
    }
    return folders;
  };
  const look = async () => {
    const watched = [...new Set(files())];
    const folders = new Set((await Promise.all(watched.map(follow))).flat());
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    const now = new Map(await Promise.all(watched.map(async (file) => [file, await readDigest(file)] as const)));
    const known = digests;
    // A newly named file was read together with the file that names it.
    const hasChanged =
      known === undefined
        ? now.values().some((digest) => digest !== undefined)
        : watched.some((file) => known.has(file) && known.get(file) !== now.get(file));
    digests = now;
    if (hasChanged && !isOver) onChange();
  };
  // Checks run one after another: two at once would open the same folders.
  const lookNext = () => {
    looking = looking.then(() => (isOver ? undefined : look())).catch((error: Error) => onError(error, 'a file'));
  };

  // The first check finds a change between loading the files and watching their folders.
  lookNext();
  return {
    refresh,
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

/** Digest of a file's content, so that no secrets stay in memory, or of a folder's names; undefined if it is unreadable. */
async function readDigest(file: string): Promise<string | undefined> {
  const content = await readFile(file)
    .catch(() => readdir(file).then((names) => names.toSorted().join('\0')))
    .catch(() => undefined);
  return content && createHash('sha256').update(content).digest('base64');
}

/** Linux's own limit (path_resolution(7)). */
const maxLinks = 40;

/**
 * Returns the real folders in which a change can redirect a path to another file: the folder of each symbolic link on the way, whether it
 * links a folder or the file, and last the folder of the file itself.
 */
export async function watchedFolders(file: string): Promise<string[]> {
  const folders = new Set<string>();
  const { root } = parse(resolve(file));
  let folder = root;
  let remaining = resolve(file).slice(root.length).split(sep);
  for (let links = 0; remaining.length > 0;) {
    const [name = '', ...rest] = remaining;
    remaining = rest;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      folder = dirname(folder);
      continue;
    }
    const path = join(folder, name);
    const target = links < maxLinks ? await readlink(path).catch(() => undefined) : undefined;
    if (target !== undefined) {
      links += 1;
      folders.add(folder);
      if (isAbsolute(target)) folder = parse(target).root;
      remaining = [...target.split(sep), ...rest];
    } else if (rest.length === 0) {
      folders.delete(folder);
      folders.add(folder);
    } else folder = path;
  }
  return [...folders];
}
