import { expect, it } from 'vitest';
import { findTestedOnly, findUnusedExports } from '../../.ci/export-rules.ts';
import { resolveSpecifier } from '../../.ci/module-graph.ts';

/** Not in one piece, which would be an import of this file. */
const loadOne = ['await import', "('./one.ts')"].join('');
const unusedOf = (files: Readonly<Record<string, string>>) =>
  findUnusedExports(new Map(Object.entries(files)), resolveSpecifier).map(({ file, name }) => `${file} ${name}`);
const one = 'export const first = 1;\nexport interface Second {}\nexport async function third() {}\nconst own = 2;\n';

it('an exported name without an import is found', () => {
  expect(
    unusedOf({
      'core/one.ts': one,
      'plugins/two/a.ts': "import { first as other, type Second } from '#core/one.ts';\n",
    }),
  ).toEqual(['core/one.ts third']);
});

it('tests, a late import that names it and what is exported again count as use', () => {
  expect(
    unusedOf({
      'core/one.ts': one,
      'core/two.ts': `const { first } = ${loadOne};\n`,
      'core/index.ts': "export type { Second } from './one.ts';\n",
      'test/core/one.test.ts': "import {\n  third,\n} from '#core/one.ts';\n",
    }),
  ).toEqual([]);
});

it('a module that is imported as a whole has no unused names', () => {
  expect(unusedOf({ 'core/one.ts': one, 'core/two.ts': "import * as all from './one.ts';\n" })).toEqual([]);
  const handed = `steps.by(() => ${loadOne.slice('await '.length)});\n`;
  expect(unusedOf({ 'core/one.ts': one, 'core/two.ts': handed })).toEqual([]);
  const late = `const all = Object.values(${loadOne});\n`;
  expect(unusedOf({ 'core/one.ts': one, 'core/two.ts': late })).toEqual([]);
});

it('what plugins and their loader read has its names for others', () => {
  expect(unusedOf({ 'core/index.ts': one, 'plugins/two/index.ts': one })).toEqual([]);
});

it('an exported name that only tests use is found, unless its own module uses it', () => {
  const test = "import { first, second } from '#core/one.ts';\n";
  const use = (text: string) => {
    const files = {
      'core/one.ts': text,
      'test/core/one.test.ts': test,
      'core/two.ts': "import { third } from './one.ts';\n",
    };
    return findTestedOnly(new Map(Object.entries(files)), resolveSpecifier).map(({ name }) => name);
  };
  const names = 'export const first = 1;\nexport const second = 2;\nexport const third = 3;\n';
  expect(use(`/** Not used: first. */\n${names}`)).toEqual(['first', 'second']);
  expect(use(`${names}const sum = first + 'https://one.example'.length + second;\n`)).toEqual([]);
});
