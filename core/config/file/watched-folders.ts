import { readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';

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
