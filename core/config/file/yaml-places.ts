import { type Document, isMap, isNode, isPair, isScalar, isSeq, type Node, visit } from 'yaml';
import type { YamlPath } from '../section.ts';

export function findNode(root: Node, path: YamlPath): Node | undefined {
  let node: unknown = root;
  for (const part of path) {
    if (isMap(node))
      node = node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(part))?.value;
    else if (isSeq(node)) node = node.items[Number(part)];
    else return undefined;
  }
  return isNode(node) ? node : undefined;
}

/** Returns the path of the scalar at an offset; empty if there is none. */
export function findPathOfKey(document: Document | undefined, offset: number): YamlPath {
  let path: YamlPath = [];
  visit(document ?? null, {
    Scalar: (_key, node, ancestors) => {
      if (node.range?.[0] !== offset) return undefined;
      path = readPath(ancestors, node);
      return visit.BREAK;
    },
  });
  return path;
}

/** Normalizes a path so that only list indexes are numbers: keys may look like numbers. */
export function normalizePath(root: Node, path: YamlPath): YamlPath {
  return path.map((part, index) => (isMap(findNode(root, path.slice(0, index))) ? String(part) : part));
}

/** Returns the offset of a path's value (with `atKey`, of its key) or of its nearest ancestor that exists. */
export function findOffset(root: Node, path: YamlPath, atKey: boolean): number {
  const keyOffset = atKey ? findKey(root, path) : undefined;
  if (keyOffset !== undefined) return keyOffset;
  for (let length = path.length; length >= 0; length--) {
    const node = findNode(root, path.slice(0, length));
    if (node === undefined) continue;
    const ancestorKey = length < path.length && length > 0 ? findKey(root, path.slice(0, length)) : undefined;
    return ancestorKey ?? node.range?.[0] ?? 0;
  }
  return 0;
}

function findKey(root: Node, path: YamlPath): number | undefined {
  const parent = findNode(root, path.slice(0, -1));
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(path.at(-1)));
  return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
}

/** @param ancestors as passed by `visit` */
export function readPath(ancestors: readonly unknown[], node: Node): YamlPath {
  const path: (string | number)[] = [];
  const nodes = [...ancestors, node];
  for (const [index, ancestor] of nodes.entries()) {
    if (isPair(ancestor) && isScalar(ancestor.key)) path.push(String(ancestor.key.value));
    else if (isSeq(ancestor)) path.push(ancestor.items.indexOf(nodes[index + 1]));
  }
  return path;
}
