import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Covering } from './covering.ts';
import { folders, type MutatedFolder } from './folders.ts';

const covering = new Covering(join(import.meta.dirname, '../..'));

it('tests reach what they import, directly or not', () => {
  const tests = ['test/plugins/upstream/routing/key-pool.test.ts', 'test/core/gateway/http/dialect.test.ts'];
  expect(covering.testsThatReach('plugins/upstream/routing/key-pool.ts', tests)).toEqual([tests[0]]);
  expect(covering.testsThatReach('core/platform/bounds.ts', tests)).toContain(tests[0]);
});

it('tests that load a gateway reach all of its plugins', () => {
  const tests = ['test/plugins/sign-in/sign-ins-page.integration.test.ts', 'test/core/web/sessions/device.test.ts'];
  expect(covering.testsThatReach('plugins/sign-in/sign-ins-page.ts', tests)).toEqual([tests[0]]);
});

it.each(['mail', 'payments', 'sign-in', 'upstream'])(
  'the tests of doctor are run on its check of plugins/%s',
  (plugin) => {
    const folder = folders.find(({ name }) => name === `plugins/${plugin}`) as MutatedFolder;
    const tests = covering.testsThatReach(`${folder.name}/diagnosis.ts`, covering.testsOf(folder));
    expect(tests).toContain('test/core/process/commands/doctor.integration.test.ts');
  },
);

it('tests that start a process reach everything', () => {
  const tests = ['test/core/process/commands.integration.test.ts'];
  expect(covering.testsThatReach('plugins/upstream/routing/key-pool.ts', tests)).toEqual(tests);
});

it.each(folders)('the tests of $name exist', (folder) => {
  expect(covering.testsOf(folder)).not.toEqual([]);
});
