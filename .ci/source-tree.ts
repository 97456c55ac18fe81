/** A checkout's files as the checks read them. A capability can be removed without touching the disk. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';

/** All paths are relative to the root. */
export interface SourceTree {
  find(glob: string): readonly string[];
  has(path: string): boolean;
  read(file: string): string;
  /** Trees that share the file share the result. */
  derive<T>(file: string, compute: (text: string, file: string) => T): T;
}

/** Each file is read only once. */
export function openTree(root: string): SourceTree {
  const found = new Map<string, readonly string[]>();
  const texts = new Map<string, string>();
  const there = new Map<string, boolean>();
  const derived = new Map<unknown, Map<string, unknown>>();
  const read = (file: string) => getOrCreate(texts, file, () => readFileSync(join(root, file), 'utf8'));
  return {
    find: (glob) => getOrCreate(found, glob, () => globSync(glob, { cwd: root }).map(normalize)),
    has: (path) => getOrCreate(there, path, () => existsSync(join(root, path))),
    read,
    derive: <T>(file: string, compute: (text: string, file: string) => T) => {
      const results = getOrCreate(derived, compute, () => new Map<string, unknown>()) as Map<string, T>;
      return getOrCreate(results, file, () => compute(read(file), file));
    },
  };
}

export function treeWithout(tree: SourceTree, paths: readonly string[]): SourceTree {
  const isKept = (file: string) => !paths.some((path) => file === path || file.startsWith(`${path}/`));
  return { ...tree, find: (glob) => tree.find(glob).filter(isKept), has: (path) => isKept(path) && tree.has(path) };
}

function getOrCreate<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  if (known.has(key)) return known.get(key) as Value;
  const value = make();
  known.set(key, value);
  return value;
}
