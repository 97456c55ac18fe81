import { type Node, visit } from 'yaml';
import type { YamlPath } from '../section.ts';
import { pathOf } from './yaml-places.ts';

const dotted = /^[1-9]\d{0,2}\.\d{3}$/;

/**
 * Numbers of the file that may have been written with a dot between thousands, as Indonesians write them: 41.250, but neither 41.25
 * nor 0.075. Their values do not show it. Those without decimals, such as 900.000, are refused.
 *
 * @returns true for the path of one
 */
export function findDottedNumbers(root: Node, source: string): (path: YamlPath) => boolean {
  const found = new Set<string>();
  // Most files have none.
  if (/\.\d{3}/.test(source))
    visit(root, {
      Scalar: (key, node, ancestors) => {
        if (key !== 'key' && typeof node.value === 'number' && dotted.test(node.source ?? ''))
          found.add(JSON.stringify(pathOf(ancestors, node)));
      },
    });
  return (path) => found.has(JSON.stringify(path));
}
