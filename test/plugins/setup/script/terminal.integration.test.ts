import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, existing, renderTest, setUp, startAcceptingStub } from './engine-fixture.ts';
import { type StubGateway, testKey } from './parts-fixture.ts';
import { describeInShells, hasCommand, runsEverywhere } from './shells.ts';
import { runOnTerminal } from './terminal.ts';

/*
 * `curl … | sh` with somebody at the terminal.
 */

let stub: StubGateway;
beforeAll(async () => {
  stub = await startAcceptingStub();
});
afterAll(() => stub[Symbol.asyncDispose]());

const askKey = 'API key of Daypass (not shown):';
const askWrite = 'Write these settings? [Y/n]';

/** Types an answer at each prompt, in a home with settings, where the script may have set everything up. */
async function type(answers: readonly (readonly [string, string])[], shell: readonly string[], isSetUp = false) {
  const home = await createHome(stub.url);
  await home.write(existing);
  if (isSetUp) expect(await home.run(setUp)).toMatchObject({ status: 0, stderr: '' });
  const before = await home.snapshot();
  const env = { PATH: process.env['PATH'], HOME: home.home, TMPDIR: home.folder, SHELL: '/bin/sh', TERM: 'dumb' };
  const input = renderTest(stub.url);
  const words = [...shell, '-s', '--', ...setUp.slice(1)];
  const result = await runOnTerminal(words, answers, { env, cwd: home.folder, input });
  const after = await home.snapshot();
  await home[Symbol.asyncDispose]();
  expect(result.output).not.toContain(testKey);
  return { ...result, before, after };
}

describe.skipIf(!hasCommand('python3'))('the script on a terminal', () => {
  describeInShells('through a pipe', ({ command }) => {
    it('asks for the key and for consent, then writes', async () => {
      const { status, output, after } = await type(
        [
          [askKey, `${testKey}\n`],
          [askWrite, '\n'],
        ],
        command,
      );
      expect(status, output).toBe(0);
      expect(output).toContain('Tool alpha');
      expect(after['.alpha/settings.json']).toContain(testKey);
    });
  });

  it.each([
    ['a no', 'n\n', 1],
    ['Ctrl-D', '\u0004', 1],
    ['Ctrl-C', '\u0003', 130],
  ])('writes nothing after %s', async (_, answer, expected) => {
    const { status, before, after } = await type(
      [
        [askKey, `${testKey}\n`],
        [askWrite, answer],
      ],
      ['sh'],
    );
    expect(status).toBe(expected);
    expect(after).toStrictEqual(before);
  });
});

describe.skipIf(!hasCommand('python3'))('a second run on a terminal', () => {
  it('lists every tool once, and asks nothing', async () => {
    const { status, output, before, after } = await type([[askKey, `${testKey}\n`]], ['sh'], true);
    expect(status, output).toBe(0);
    expect(output.match(/Tool alpha +unchanged/g)).toHaveLength(1);
    expect(output).toMatch(/Nothing to change\.\s*$/);
    expect(after).toStrictEqual(before);
  });
});

describe('options of the shell', () => {
  // Any of them that the script did not take back would fail all of them.
  it.each(runsEverywhere ? ['-e', '-f', '-C', '-a', '-u'] : ['-efCau'])('do not matter: %s', async (option) => {
    await using home = await createHome(stub.url);
    await home.write(existing);
    const before = await home.snapshot();
    expect(await home.run(setUp, { shell: ['dash', option] })).toMatchObject({ status: 0, stderr: '' });
    expect(await home.run(['--undo', '--yes'], { shell: ['dash', option] })).toMatchObject({ status: 0, stderr: '' });
    expect(await home.snapshot()).toStrictEqual(before);
  });

  it('the options of the shell do not show the key, and neither does a dry run, which changes no file', async () => {
    await using home = await createHome(stub.url);
    await home.write({ ...existing, '.alpha/settings.json': '{ "apiKey": "other-secret", "theme": "dark" }' });
    const before = await home.snapshot();
    const { status, output } = await home.run([...setUp, '--dry-run'], { shell: ['dash', '-x'] });
    expect(status).toBe(0);
    for (const secret of [testKey, testKey.slice(8, 30)]) expect(output).not.toContain(secret);
    expect(output.slice(output.indexOf('---'))).not.toContain('other-secret');
    expect(await home.snapshot()).toStrictEqual(before);
  });
});
