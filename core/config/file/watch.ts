import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { watchedFolders } from './watched-folders.ts';

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
