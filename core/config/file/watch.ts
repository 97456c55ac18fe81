import { type FSWatcher, watch } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';

/** Ms without a change after which a file counts as complete, because editors write in several steps. */
const settleTime = 100;

/**
 * Calls back with the first content, and whenever the content changes or the file disappears. It watches the folder of the
 * file and of every link that leads to it, because editors and Kubernetes replace files, and deployments replace links.
 */
export function watchFile(file: string, onChange: () => void, onError: (error: Error) => void): Disposable {
  const watchers = new Map<string, FSWatcher>();
  let text: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  const follow = async () => {
    const folders = new Set(await watchedFolders(file));
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of folders) {
      if (isOver || watchers.has(folder)) continue;
      const watcher = watch(folder, () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          look().catch(onError);
        }, settleTime);
      });
      watcher.on('error', onError);
      watcher.unref();
      watchers.set(folder, watcher);
    }
  };
  const look = async () => {
    await follow();
    const now = await readFile(file, 'utf8').catch(() => undefined);
    if (now === text || isOver) return;
    text = now;
    onChange();
  };

  // The first look finds a change between loading the file and watching its folder.
  look().catch(onError);
  return {
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

/** Linux follows as many links before it gives up (path_resolution(7)). */
const maxLinks = 40;

/**
 * The real folders in which a change can lead a path to another file: that of each symbolic link on the way, of folders and
 * of the file, and that of the file itself, which comes last.
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
