import { Refusal } from '../../../../plugins/setup/script/edit/common.mjs';

/** Laws that hold for every format and file, and the trees that they compare. */
type Tree = Record<string, unknown>;

/** Members of the second in the first, recursively; everything but plain objects is a value. */
export function deepMerge(into: unknown, from: unknown): unknown {
  if (!isTree(into) || !isTree(from)) return from;
  const merged: Tree = { ...into };
  for (const [key, value] of Object.entries(from)) merged[key] = key in into ? deepMerge(into[key], value) : value;
  return merged;
}

function isTree(value: unknown): value is Tree {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Undefined for a refusal for one of the reasons; other refusals and errors are thrown. */
export function orRefusal<T>(edit: () => T, reasons: RegExp): T | undefined {
  try {
    return edit();
  } catch (error) {
    if (error instanceof Refusal && reasons.test(error.message)) return undefined;
    throw error;
  }
}

/** Whether the lines of a file are all in another, unchanged and in their order. */
export function linesAreIn(file: string, other: string): boolean {
  const rest = other.replace('\ufeff', '').split(/\r?\n/).values();
  return file
    .replace('\ufeff', '')
    .split(/\r?\n/)
    .every((line) => line.trim() === '' || rest.some((one) => one === line));
}

/** Whether something is at a path. */
export function has(tree: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  return isTree(tree) && key in tree && has(tree[key], rest);
}

/** A tree without tables that have no values: a program that rewrites a file drops headers of tables that hold only tables. */
export function withoutEmpty(value: unknown): unknown {
  if (!isTree(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withoutEmpty(member)] as const);
  return Object.fromEntries(members.filter(([, member]) => !isTree(member) || Object.keys(member).length > 0));
}

/** Like `deepMerge`, with lists merged entry by entry: those with the same identity are replaced, the others added. */
export function mergeEntries(into: unknown, from: unknown, options: { identity: string[]; at?: string }): unknown {
  if (Array.isArray(from)) return mergeList((into ?? []) as unknown[], from, options);
  const merged: Tree = { ...(into as Tree | null) };
  for (const [key, value] of Object.entries(from as Tree)) {
    merged[key] = Array.isArray(value) ? mergeEntries(merged[key], value, options) : value;
  }
  return merged;
}

function mergeList(into: unknown[], from: unknown[], { identity, at }: { identity: string[]; at?: string }): unknown[] {
  const merged = [...into];
  const added: unknown[] = [];
  for (const entry of from) {
    const index = into.findIndex((one) => isTree(one) && identity.every((name) => one[name] === (entry as Tree)[name]));
    if (index < 0) added.push(entry);
    else if (!hasAll(into[index] as Tree, entry as Tree)) merged[index] = entry;
  }
  return at === 'start' ? [...added, ...merged] : [...merged, ...added];
}

function hasAll(tree: Tree, members: Tree): boolean {
  return Object.entries(members).every(([name, value]) => JSON.stringify(tree[name]) === JSON.stringify(value));
}
