import { type Node, visit } from 'yaml';
import type { YamlPath } from '../section.ts';
import { readPath } from './yaml-places.ts';

const dottedNumber = /^[1-9]\d{0,2}\.\d{3}$/;

/**
 * Finds numbers whose dot may separate thousands, as is usual in Indonesia: 41.250, but neither 41.25 nor 0.075. The parsed value no longer
 * shows the dot. Numbers whose decimals are all zero, such as 900.000, are refused elsewhere.
 */
export function findDottedNumbers(root: Node, source: string): (path: YamlPath) => boolean {
  const paths = new Set<string>();
  // Most files contain no such number and need no visit.
  if (/\.\d{3}/.test(source))
    visit(root, {
      Scalar: (key, node, ancestors) => {
        if (key !== 'key' && typeof node.value === 'number' && dottedNumber.test(node.source ?? ''))
          paths.add(JSON.stringify(readPath(ancestors, node)));
      },
    });
  return (path) => paths.has(JSON.stringify(path));
}
