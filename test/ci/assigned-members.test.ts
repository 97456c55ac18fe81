import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { openTree } from '../../.ci/source-tree.ts';

/** A statement that assigns members and does not use the result, whose type would have them. */
const assignment = /(?<!=>\n)^ *(?:if \(.*\) )?(Object\.assign\([^;]*?\);)$/gm;

/** Lists assignments of a literal whose members the compiler does not compare with those of the target. */
function listUnchecked(text: string): string[] {
  return [...text.matchAll(assignment)]
    .map(([, statement = '']) => statement)
    .filter((statement) => /,\s*\{/.test(statement) && !statement.includes(' satisfies '));
}

it('a literal that is assigned without its type is found, and one with it is not', () => {
  expect(listUnchecked('  Object.assign(entry, { addresses });')).toHaveLength(1);
  expect(listUnchecked('  if (isNew) Object.assign(entry, {\n    addresses,\n  });')).toHaveLength(1);
  expect(listUnchecked('  Object.assign(entry, { addresses } satisfies Partial<Entry>);')).toEqual([]);
  expect(listUnchecked('  return Object.assign(new Error(text), { code });')).toEqual([]);
  expect(listUnchecked('const fail = (text: string) =>\n  Object.assign(new Error(text), { code });')).toEqual([]);
  expect(listUnchecked('  Object.assign(options, readOptions());')).toEqual([]);
});

it('every literal that is assigned to an object names its type, so that a renamed member is found', () => {
  const tree = openTree(resolve(import.meta.dirname, '../..'));
  const sources = ['core', 'plugins'].flatMap((folder) => tree.find(`${folder}/**/*.ts`));
  expect(sources.length).toBeGreaterThan(1_000);
  const found = sources.flatMap((file) => listUnchecked(tree.read(file)).map((statement) => `${file}: ${statement}`));
  expect(found).toEqual([]);
});
