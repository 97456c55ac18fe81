import { type Node, visit } from 'yaml';
import type { YamlPath } from '../section.ts';
import { pathOf } from './yaml-places.ts';

const dotted = /^[1-9]\d{0,2}\.\d{3}$/;

/**
 * Finds numbers that may have been written with a dot between thousands, as is usual in Indonesia: 41.250, but neither 41.25 nor
 * 0.075. The parsed value does not show it. Numbers without decimals, such as 900.000, are refused.
 *
 * @returns a function that is true for the path of such a number
 */
export function findDottedNumbers(root: Node, source: string): (path: YamlPath) => boolean {
  const found = new Set<string>();
  // Most files have no such number.
  if (/\.\d{3}/.test(source))
    visit(root, {
      Scalar: (key, node, ancestors) => {
        if (key !== 'key' && typeof node.value === 'number' && dotted.test(node.source ?? ''))
          found.add(JSON.stringify(pathOf(ancestors, node)));
      },
    });
  return (path) => found.has(JSON.stringify(path));
}
