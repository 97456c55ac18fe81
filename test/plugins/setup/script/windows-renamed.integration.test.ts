import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs as casesOf } from '../../../support/runs.ts';
import { testKey } from './parts-fixture.ts';
import { type Computer, createComputer, existing, otherScript, renamedScript, setUp } from './windows-fixture.ts';

const records = 'AppData/Local/other/setup';
const run = (computer: Computer, args: readonly unknown[]) => computer.run(args, renamedScript);

/** Everything is set up under the former name, with a model of its own. */
async function createFormer() {
  const computer = await createComputer();
  computer.write(existing);
  const before = await computer.snapshot();
  expect(await computer.run([...setUp, '-Model', 'dp/demo'])).toMatchObject({ code: 0 });
  return { computer, before };
}

/** The script reads another variable first. */
const withOwnVariable = (script: string) =>
  script.replace('"keyVariable":"DAYPASS_API_KEY"', '"keyVariable":"OTHER_API_KEY"');

describe('service with a new name, in setup.ps1', () => {
  it('setup.ps1 of a service with a new name takes over what was set up under the former one, with its models', async () => {
    const { computer, before } = await createFormer();
    await using _ = computer;
    const former = await computer.snapshot();
    expect((await run(computer, ['-List'])).output).toMatch(/alpha +Tool alpha +found, set up under a former name/);
    const verified = await run(computer, ['-Verify']);
    expect(verified.output).toMatch(/Tool alpha +outdated +it is set up under a former name of Daypass/);
    expect(verified.code).toBe(1);
    const tried = await run(computer, ['-DryRun']);
    const [, first = '', then = ''] = tried.output.split(/are taken out first:|\nThen:\n/);
    expect(first).toMatch(/Tool alpha +restored /);
    expect(then).toMatch(/Tool alpha +change /);
    expect(then).toMatch(/\n-\s*"gateway": \{"url": "http:\/\/old\.example" \}/);
    expect(await computer.snapshot()).toStrictEqual(former);

    const { code, output } = await run(computer, ['-Yes']);
    expect(code, output).toBe(0);
    const after = await computer.snapshot();
    expect(Object.keys(after).filter((path) => /daypass|moving/.test(path))).toEqual([]);
    expect(after[`${records}/tools`]).toBe('alpha\tdp/demo\nbeta\tdp/demo\ngamma\tdp/demo\n');
    expect(after['.gamma/rc']).toMatch(/^set-colour blue\n# >>> other >>>\n/);
    expect((await run(computer, ['-Yes'])).output.match(/unchanged/g)).toHaveLength(3);
    expect((await run(computer, ['-Undo', '-Yes'])).code).toBe(0);
    expect(await computer.snapshot()).toStrictEqual(before);
  });

  it('setup.ps1 of a service with a new name takes back what was set up under both, and asks once', async () => {
    const { computer, before } = await createFormer();
    await using _ = computer;
    expect((await run(computer, ['-Yes', '-Tools', 'alpha'])).code).toBe(0);
    const both = await computer.snapshot();
    expect(both['AppData/Local/daypass/setup/tools']).toBe('beta\tdp/demo\ngamma\tdp/demo\n');
    expect(both[`${records}/tools`]).toBe('alpha\tdp/demo\n');
    computer.machine.isRedirected = false;
    computer.machine.answers.push('n');
    expect((await run(computer, ['-Undo'])).output).toMatch(
      /^The settings of Daypass will be taken out of:\n\n {2}Tool alpha .*\n {2}Tool beta .*\n {2}Tool gamma .*\n\nContinue\? \[Y\/n\]: n\nNothing was changed\.$/,
    );
    expect(await computer.snapshot()).toStrictEqual(both);
    computer.machine.answers.push('');
    expect((await run(computer, ['-Undo'])).code).toBe(0);
    expect(await computer.snapshot()).toStrictEqual(before);
  });

  it('setup.ps1 of a service with a new name takes the key of a former service named Daypass only at the same address', async () => {
    const { computer } = await createFormer();
    await using _ = computer;
    computer.machine.environment.delete('OTHER_API_KEY');
    expect((await computer.run(['-Yes'], withOwnVariable(otherScript))).output).toMatch(/^No key was given/);
    const { code, output } = await computer.run(['-Yes'], withOwnVariable(renamedScript));
    expect(code, output).toBe(0);
  });
});

describe('run of setup.ps1 that takes over former settings and is killed', () => {
  const points = casesOf(3).numRuns;
  const places = Array.from({ length: points }, (_, index) => index / (points - 1));
  let computer: Computer;
  let before: Readonly<Record<string, string>>;
  let restore: () => Promise<void>;
  /** Changes of a whole run. */
  let changes = 0;
  beforeAll(async () => {
    ({ computer, before } = await createFormer());
    restore = await computer.save();
    const start = computer.machine.changes;
    await run(computer, ['-Yes']);
    changes = computer.machine.changes - start;
  });
  afterAll(() => computer[Symbol.asyncDispose]());

  /** Ends the run before a change at this place. */
  async function killAt(place: number) {
    await restore();
    const { machine } = computer;
    machine.lastChange = machine.changes + Math.floor(place * (changes - 1));
    expect((await run(computer, ['-Yes'])).code).toBe(undefined);
  }

  it.each(places)('is listed, and completed by the next run with the same models: at %f', async (place) => {
    await killAt(place);
    const { output } = await run(computer, ['-List']);
    for (const id of ['alpha', 'beta', 'gamma'])
      expect(output).toMatch(new RegExp(`${id} +Tool ${id} +.*(set up|interrupted)`));
    // The variable of the former settings may be gone, also from the session.
    computer.machine.environment.set('DAYPASS_API_KEY', testKey);
    const again = await run(computer, ['-Yes']);
    expect(again.code, again.output).toBe(0);
    const after = await computer.snapshot();
    expect(after[`${records}/tools`]?.trim().split('\n').toSorted()).toEqual(
      ['alpha', 'beta', 'gamma'].map((id) => `${id}\tdp/demo`),
    );
    expect(after[`${records}/moving`]).toBe(undefined);
    expect((await run(computer, ['-Undo', '-Yes'])).code).toBe(0);
    expect(settingsIn(await computer.snapshot())).toStrictEqual(before);
  });

  it.each(places)('is taken back by -Undo: at %f', async (place) => {
    await killAt(place);
    const { code, output } = await run(computer, ['-Undo', '-Yes']);
    expect(code, output).toBe(0);
    expect(settingsIn(await computer.snapshot())).toStrictEqual(before);
  });
});

/** Without the temporary folder of the run that was killed, which Windows removes. */
const settingsIn = (snapshot: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(snapshot).filter(([path]) => !path.startsWith('AppData/Local/Temp/')));
