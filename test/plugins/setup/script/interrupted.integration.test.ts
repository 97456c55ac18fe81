import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs as casesOf } from '../../../support/runs.ts';
import { createHome, existing, setUp, type Snapshot, renderTest, startAcceptingStub } from './engine-fixture.ts';
import { hookedPath, killerPath } from './killer.ts';
import { type StubGateway, testKey } from './parts-fixture.ts';
import { runShell } from './shells.ts';

let stub: StubGateway;
beforeAll(async () => {
  stub = await startAcceptingStub();
});
afterAll(() => stub[Symbol.asyncDispose]());

/** Places, from the first to the last change of a file, at which the script is killed. */
const points = casesOf(3).numRuns;

/** Without what differs between two runs: times in names and in stamps, which of them made a folder, and
 * the permissions that a file got: the second run has seen them. */
function timeless(snapshot: Snapshot): Snapshot {
  const entries = Object.entries(snapshot).filter(
    ([path]) => !/setup\/(stamp|backups|folders|files\/[^/]+\/mode)/.test(path),
  );
  return Object.fromEntries(entries);
}

describe('script that is interrupted', () => {
  let complete: Snapshot;
  let calls = 0;

  beforeAll(async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const path = await killerPath(home, 'KILL', -1);
    await home.run(setUp, { path });
    calls = (await readFile(join(home.folder, 'calls'), 'utf8')).length;
    complete = timeless(await home.snapshot());
  });

  it('a run changes files at least ten times, so that the kills below happen within it', () => {
    expect(calls).toBeGreaterThan(10);
  });

  it.each([
    ...Array.from({ length: points }, (_, index) => ['KILL', index / (points - 1)] as const),
    ...Array.from({ length: 2 }, (_, index) => ['INT', index / 2 + 0.2] as const),
    ['TERM', 0.5] as const,
  ])('by %s leaves every file whole, and is completed by the next run: at %f', async (signal, place) => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    const path = await killerPath(home, signal, 1 + Math.round(place * (calls - 1)));
    const { status, output } = await home.run(setUp, { path });
    expect([null, 130], output).toContain(status);
    const broken = await home.snapshot();
    for (const file of Object.keys(existing)) expect([before[file], complete[file]]).toContain(broken[file]);
    if (signal !== 'KILL') {
      expect(Object.keys(broken).filter((file) => /daypass-setup|lock/.test(file))).toEqual([]);
      expect(await readdir(join(home.folder, 'tmp'))).toEqual([]);
    }

    const again = await home.run(setUp);
    expect(again.status, again.output).toBe(0);
    expect(timeless(await home.snapshot())).toStrictEqual(complete);
    expect((await home.run(['--undo', '--yes'])).status).toBe(0);
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it.each(Array.from({ length: points }, (_, index) => index / (points - 1)))(
    'while it brings a new model up to date is completed by the next run: at %f',
    async (place) => {
      await using home = await createHome(stub.url);
      await home.write(existing);
      const before = await home.snapshot();
      expect(await home.run([...setUp, '--model', 'dp/other'])).toMatchObject({ status: 0 });
      const path = await killerPath(home, 'KILL', 1 + Math.round(place * (calls - 1)));
      await home.run([...setUp, '--model', 'dp/demo'], { path });
      const again = await home.run([...setUp, '--model', 'dp/demo']);
      expect(again.status, again.output).toBe(0);
      const { '.config/daypass/setup/tools': tools, ...settled } = timeless(await home.snapshot());
      const { '.config/daypass/setup/tools': _, ...expected } = complete;
      expect(tools).toContain('alpha\tdp/demo');
      expect(settled).toStrictEqual(expected);
      expect((await home.run(['--undo', '--yes'])).status).toBe(0);
      expect(await home.snapshot()).toStrictEqual(before);
    },
  );

  it.each([0, 0.4, 0.9])('during --undo is completed by the next one: at %f', async (place) => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    expect(await home.run(setUp)).toMatchObject({ status: 0 });
    await home.run(['--undo', '--yes'], {
      path: await killerPath(home, 'KILL', 1 + Math.round(place * calls * 0.5)),
    });
    const again = await home.run(['--undo', '--yes']);
    expect(again.status, again.output).toBe(0);
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it('a download that breaks off does nothing, wherever it breaks off', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    const text = renderTest(stub.url);
    const requests = stub.requests.length;
    const places = Array.from({ length: 25 }, (_, index) => Math.floor(((index + 1) / 26) * text.length));
    for (const place of [...places, text.trimEnd().length - 6]) {
      const env = { PATH: process.env['PATH'], HOME: home.home, TMPDIR: home.folder, DAYPASS_API_KEY: testKey };
      await runShell(['dash'], ['-s', '--', ...setUp], { env, cwd: home.folder, input: text.slice(0, place) });
    }
    expect(stub.requests.length).toBe(requests);
    expect(await home.snapshot()).toStrictEqual(before);
    expect((await readdir(home.folder)).toSorted()).toEqual(['home', 'tmp']);
  });
});

describe('two runs at once', () => {
  it('two runs at once end with one set of settings, and --undo takes it back', async () => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    const runs = await Promise.all([home.run(setUp), home.run(setUp), home.run(setUp)]);
    for (const { status, output } of runs.filter((run) => run.status !== 0)) {
      expect({ status, output }).toEqual({
        status: 1,
        output: expect.stringMatching(/Another run (is changing|has changed) the settings/),
      });
    }
    expect(runs.some(({ status }) => status === 0)).toBe(true);
    expect(await home.run(setUp)).toMatchObject({ status: 0 });
    expect(await home.run(['--undo', '--yes'])).toMatchObject({ status: 0 });
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it('a lock of a process that has ended is taken over', async () => {
    await using home = await createHome(stub.url);
    const { stdout } = await runShell(['sh'], ['-c', 'echo $$'], { env: process.env });
    await home.write({ ...existing, '.config/daypass/setup/lock/pid': stdout });
    expect(await home.run(setUp)).toMatchObject({ status: 0, stderr: '' });
  });

  it('a lock without a process is taken over', async () => {
    await using home = await createHome(stub.url);
    await mkdir(join(home.home, '.config/daypass/setup/lock'), { recursive: true });
    expect(await home.run(setUp)).toMatchObject({ status: 0, stderr: '' });
  });

  it('a lock whose process is named three seconds late is respected', async () => {
    await using home = await createHome(stub.url);
    const lock = join(home.home, '.config/daypass/setup/lock');
    await mkdir(lock, { recursive: true });
    const path = await hookedPath(
      home,
      `let waits = 0;
Atomics.wait = () => {
  waits += 1;
  if (waits === 30) fs.writeFileSync(${JSON.stringify(join(lock, 'pid'))}, '${process.pid}\\n');
};`,
    );
    const { status, stderr } = await home.run(setUp, { path });
    expect({ status, stderr }).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`Another run is changing the settings (process ${process.pid}).`),
    });
  });

  it('a lock of a running process is respected', async () => {
    await using home = await createHome(stub.url);
    await home.write({ ...existing, '.config/daypass/setup/lock/pid': `${process.pid}\n` });
    const before = await home.snapshot();
    const { status, stderr } = await home.run(setUp);
    expect(status).toBe(1);
    expect(stderr).toContain(`Another run is changing the settings (process ${process.pid}).`);
    const { '.config/daypass/setup/files': created, ...after } = await home.snapshot();
    expect(created ?? '').toMatch(/^folder 700$|^$/);
    expect(timeless(after)).toMatchObject(before);
  });
});
