import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { faultEffects } from '../../../../plugins/upstream/attempt/fault.ts';
import { experiments } from '../../../chaos/experiments.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const page = ['faults.md', 'faults-machine.md']
  .map((name) => readFileSync(join(root, 'docs', name), 'utf8'))
  .join('\n');

it('the table of docs/faults.md equals the table of faults', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| (\w+) \| (\w+) \|/gm)];
  const documented = rows.map(([, kind, key, breaker, next]) => [kind, { key, breaker, next }]);
  expect(documented).toEqual(Object.entries(faultEffects));
});

/** The last cells of the tables that say which test shows a row; "the same" is that of the row before. */
const shownBy = page
  .split(/\n{2,}/)
  .filter((block) => /^\|.*\| Shown by \|/.test(block))
  .flatMap((table) => table.trim().split('\n').slice(2))
  .map((row) => row.split(' | ').at(-1) ?? '');

/** Paths of the tests in a cell. One without a folder is beside the one before it. */
function testsIn(cell: string): string[] {
  let folder = '';
  return [...cell.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, path = '']) => {
    if (!path.includes('/')) return join(folder, path);
    folder = dirname(path);
    return path;
  });
}

it('each row of both pages of faults names a test or an experiment that shows it', () => {
  const withoutTest = shownBy.filter((cell) => !/\.test\.ts`|`npm run chaos|^the same/.test(cell));
  expect([shownBy.length > 0, withoutTest]).toEqual([true, []]);
});

it('the tests that the pages of faults name exist', () => {
  expect(shownBy.flatMap(testsIn).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it('the experiments that the pages of faults name exist', () => {
  const named = [...page.matchAll(/`npm run chaos -- --only ([\w,-]+)`/g)].flatMap(([, names = '']) =>
    names.split(','),
  );
  const known = new Set(experiments.map(({ name }) => name));
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});
