import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs as casesOf } from '../../../support/runs.ts';
import { createHome, existing, renderTest, setUp, startAcceptingStub, type TestHome } from './engine-fixture.ts';
import { killerPath } from './killer.ts';
import type { StubGateway } from './parts-fixture.ts';
import { hasCommand, shellsInTurn } from './shells.ts';
import { runOnTerminal } from './terminal.ts';

let stub: StubGateway;
beforeAll(async () => {
  stub = await startAcceptingStub();
});
afterAll(() => stub[Symbol.asyncDispose]());

/** The script after the service got another name; gateway.yaml names the former ones. */
const renderRenamed = () => renderTest(stub.url, { slug: 'other', formerSlugs: ['older', 'daypass'] });

const turns = shellsInTurn();

describe('service with a new name', () => {
  it('a service with a new name takes over what was set up under the former one, with its models', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    const renamed = { script: renderRenamed(), shell: turns.next().value.command };
    expect(await home.run([...setUp, '--model', 'dp/other'])).toMatchObject({ status: 0, stderr: '' });

    const { '.config': _, ...old } = await home.snapshot();
    expect((await home.run(['--list'], renamed)).output).toMatch(
      /alpha +Tool alpha +found, set up under a former name/,
    );
    const verified = await home.run(['--verify'], renamed);
    expect(verified.output).toMatch(/Tool alpha +outdated +it is set up under a former name of Daypass/);
    const tried = await home.run(['--dry-run'], renamed);
    const [, first = '', then = ''] = tried.output.split(/are taken out first:|\nThen:\n/);
    expect(first).toMatch(/Tool alpha +restored /);
    expect(then).toMatch(/Tool alpha +change /);
    expect(then).toMatch(/\n-\s*"gateway": \{"url": "http:\/\/old\.example" \}/);
    expect(await home.snapshot()).toMatchObject(old);

    const { status, stderr, output } = await home.run(['--yes'], renamed);
    expect({ status, stderr }, output).toEqual({ status: 0, stderr: '' });
    const after = await home.snapshot();
    expect(Object.keys(after).filter((path) => path.includes('daypass'))).toEqual([]);
    expect(after['.config/other/setup/tools']).toContain('alpha\tdp/other\nbeta\tdp/other\ngamma\tdp/other\n');
    expect(after['.profile']).not.toContain('daypass');
    expect((await home.run(['--yes'], renamed)).output).toContain('unchanged');
    expect(await home.run(['--undo', '--yes'], renamed)).toMatchObject({ status: 0, stderr: '' });
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it('a service with a new name takes back what was set up under both', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    const renamed = { script: renderRenamed(), shell: turns.next().value.command };
    expect(await home.run(setUp)).toMatchObject({ status: 0, stderr: '' });
    expect(await home.run(['--yes', '--tools', 'alpha'], renamed)).toMatchObject({ status: 0, stderr: '' });
    const both = await home.snapshot();
    expect(both['.config/daypass/setup/tools']).toMatch(/beta\ngamma\n$/);
    expect(both['.config/other/setup/tools']).toMatch(/alpha\n$/);
    expect(await home.run(['--undo', '--yes'], renamed)).toMatchObject({ status: 0, stderr: '' });
    expect(await home.snapshot()).toStrictEqual(before);
  });
});

describe.skipIf(!hasCommand('python3'))('--undo of both names on a terminal', () => {
  it.each([
    ['once before it begins', '\n', 0],
    ['and changes nothing after a no', 'n\n', 1],
  ])('asks %s', async (_, answer, expected) => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    await home.run(setUp);
    await home.run(['--yes', '--tools', 'alpha'], { script: renderRenamed() });
    const both = await home.snapshot();
    const env = { PATH: process.env['PATH'], HOME: home.home, TMPDIR: home.folder, SHELL: '/bin/sh', TERM: 'dumb' };
    const { status, output } = await runOnTerminal(['sh', '-s', '--', '--undo'], [['Continue? [Y/n]', answer]], {
      env,
      cwd: home.folder,
      input: renderRenamed(),
    });
    expect(status, output).toBe(expected);
    expect(output).toMatch(/Tool alpha .*\/settings\.json\n[^]*Tool beta +~\/\.beta\/config\.toml\n[^]*Continue\?/);
    expect(await home.snapshot()).toStrictEqual(expected === 0 ? before : both);
  });
});

/** Everything is set up under the former name, with a model of its own. */
async function createFormer() {
  const home = await createHome(stub.url);
  await home.write(existing);
  const before = await home.snapshot();
  expect(await home.run([...setUp, '--model', 'dp/other'])).toMatchObject({ status: 0, stderr: '' });
  return { home, before };
}
const run = (home: TestHome, args: readonly string[], path?: string) =>
  home.run(args, { script: renderRenamed(), path });

describe('run that takes over former settings and is killed', () => {
  let calls = 0;
  beforeAll(async () => {
    const { home } = await createFormer();
    await using _ = home;
    await run(home, ['--yes'], await killerPath(home, 'KILL', -1));
    calls = (await readFile(join(home.folder, 'calls'), 'utf8')).length;
  });

  const points = casesOf(3).numRuns;
  const places = Array.from({ length: points }, (_, index) => index / (points - 1));

  it.each(places)('is listed, and completed by the next run with the same models: at %f', async (place) => {
    const { home, before } = await createFormer();
    await using _ = home;
    await run(home, ['--yes'], await killerPath(home, 'KILL', 1 + Math.round(place * (calls - 1))));
    const { output } = await run(home, ['--list']);
    for (const id of ['alpha', 'beta', 'gamma'])
      expect(output).toMatch(new RegExp(`${id} +Tool ${id} .*(set up|interrupted)`));
    const again = await run(home, ['--yes']);
    expect(again.status, again.output).toBe(0);
    const after = await home.snapshot();
    expect(after['.config/other/setup/tools']?.split('\n').slice(0, -1).toSorted()).toEqual(
      ['600 alpha', 'beta', 'gamma'].map((id) => `${id}\tdp/other`),
    );
    expect(Object.keys(after).filter((file) => /daypass|moving/.test(file))).toEqual([]);
    expect((await run(home, ['--undo', '--yes'])).status).toBe(0);
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it.each(places)('is taken back by --undo: at %f', async (place) => {
    const { home, before } = await createFormer();
    await using _ = home;
    await run(home, ['--yes'], await killerPath(home, 'KILL', 1 + Math.round(place * (calls - 1))));
    const undone = await run(home, ['--undo', '--yes']);
    expect(undone.status, undone.output).toBe(0);
    expect(await home.snapshot()).toStrictEqual(before);
  });
});
