import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';

const settleMs = 100; // files must be unchanged for this long, because editors save in several steps

interface FileWatch extends Disposable {
  refresh(): void;
}

/**
 * Calls `onChange` if any of the files exists, and whenever one of them changes or disappears. Watches the folder of each file and of every
 * link that leads to it, because editors and Kubernetes replace files, and deployments replace links.
 *
 * @param files called at each check, because the list of secret files depends on the file that names them
 * @param onError called once when a file cannot be watched; called again only if watching it has succeeded in between
 */
export function watchFiles(
  files: () => Iterable<string>,
  onChange: () => void,
  onError: (error: Error, file: string) => void,
): FileWatch {
  const watchers = new Map<string, FSWatcher>();
  const failedFiles = new Set<string>();
  let digests: ReadonlyMap<string, string | undefined> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastCheck: Promise<void> = Promise.resolve();
  let isClosed = false;

  const refresh = () => {
    clearTimeout(timer);
    timer = setTimeout(checkNext, settleMs);
  };
  const watchFolder = (folder: string, file: string) => {
    const watcher = watch(folder, refresh);
    watcher.on('error', (error) => onError(error, file));
    watcher.unref();
    watchers.set(folder, watcher);
  };
  const watchFile = async (file: string): Promise<string[]> => {
    const folders = await findWatchedFolders(file);
    try {
      for (const folder of folders) if (!isClosed && !watchers.has(folder)) watchFolder(folder, file);
      failedFiles.delete(file);
    } catch (error) {
      if (!failedFiles.has(file)) onError(error as Error, file);
      failedFiles.add(file);
    }
    return folders;
  };
  const check = async () => {
    const watchedFiles = [...new Set(files())];
    const folders = new Set((await Promise.all(watchedFiles.map(watchFile))).flat());
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    const newDigests = new Map(
      await Promise.all(watchedFiles.map(async (file) => [file, await readDigest(file)] as const)),
    );
    const oldDigests = digests;
    // A newly named file does not count as changed, because it was read together with the file that names it.
    const hasChanged =
      oldDigests === undefined
        ? newDigests.values().some((digest) => digest !== undefined)
        : watchedFiles.some((file) => oldDigests.has(file) && oldDigests.get(file) !== newDigests.get(file));
    digests = newDigests;
    if (hasChanged && !isClosed) onChange();
  };
  // Checks run one after the other: concurrent ones would watch the same folders twice.
  const checkNext = () => {
    lastCheck = lastCheck
      .then(() => (isClosed ? undefined : check()))
      .catch((error: Error) => onError(error, 'a file'));
  };

  // The first check finds changes that were made after the files were loaded and before their folders were watched.
  checkNext();
  return {
    refresh,
    [Symbol.dispose]() {
      isClosed = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

async function readDigest(file: string): Promise<string | undefined> {
  const content = await readFile(file)
    .catch(() => readdir(file).then((names) => names.toSorted().join('\0')))
    .catch(() => undefined);
  // A digest keeps no secrets in memory.
  return content && createHash('sha256').update(content).digest('base64');
}

const maxLinks = 40; // Linux's own limit (path_resolution(7))

/**
 * Finds the real folders in which a change can make a path lead to another file: the folder of each symbolic link on the way and, last, the
 * folder of the file itself.
 */
export async function findWatchedFolders(file: string): Promise<string[]> {
  const folders = new Set<string>();
  const { root } = parse(resolve(file));
  let folder = root;
  let remaining = resolve(file).slice(root.length).split(sep);
  for (let links = 0; remaining.length > 0;) {
    const [name = '', ...followingNames] = remaining;
    remaining = followingNames;
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
      remaining = [...target.split(sep), ...followingNames];
    } else if (followingNames.length === 0) {
      folders.delete(folder);
      folders.add(folder);
    } else {
      folder = path;
    }
  }
  return [...folders];
}
