import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderTest } from './engine-fixture.ts';
import { sendJson, startStub, type StubGateway, testKey } from './parts-fixture.ts';
import { hasCommand, shells } from './shells.ts';
import { runOnTerminal } from './terminal.ts';

/*
 * `curl … | sh`: the script comes through a pipe, the key from the terminal. The terminal is made by Python.
 */

let stub: StubGateway;
const wrongKey = testKey.replace('Ab', 'Xy');

beforeAll(async () => {
  stub = await startStub((_, response) => {
    const { authorization } = stub.requests.at(-1)?.headers ?? {};
    if (authorization !== `Bearer ${testKey}`) sendJson(response, 401, { error: { message: 'no' } });
    else sendJson(response, 200, { object: 'key', active_period: { active: true } });
  });
});
afterAll(() => stub[Symbol.asyncDispose]());

const question = 'API key of Daypass (not shown):';
const asked = () => `Your key for Daypass is at ${stub.url}/account/key.\n${question}`;

describe.skipIf(!hasCommand('python3'))('a key asked for on the terminal', () => {
  describe.each(shells)('in $name', ({ command }) => {
    const isMissing = !hasCommand(command[0]);

    /** Types an answer whenever the question appears. */
    async function type(answers: readonly string[], environment: NodeJS.ProcessEnv = {}) {
      const folder = await mkdtemp(join(tmpdir(), 'setup-ask-'));
      const typed = answers.map((answer) => [question, answer] as const);
      const env = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, TERM: 'dumb', ...environment };
      // The shell reads its script from the pipe, as it does after `curl … |`.
      const words = [...command, '-s', '--', '--tools', 'alpha', '--yes'];
      const result = await runOnTerminal(words, typed, { env, cwd: folder, input: renderTest(stub.url) });
      const leftovers = (await readdir(folder)).filter((name) => name.includes('setup'));
      await rm(folder, { recursive: true });
      expect(leftovers).toEqual([]);
      expect(result.output.includes(testKey)).toBe(false);
      return result;
    }

    it.skipIf(isMissing)('is read without an echo while the script comes through the pipe', async () => {
      const { status, output } = await type([`${testKey}\n`]);
      expect(status, output).toBe(0);
      expect(output).toMatch(/^Your key for Daypass is at \S+\/account\/key\.\nAPI key of Daypass \(not shown\): \n/);
      expect(output).toMatch(/Tool alpha +written/);
    });

    it.skipIf(isMissing)(
      'is asked for again when the one of the variable is out of date, then when it is mistyped',
      async () => {
        const { status, output } = await type(['dp-\n', `${testKey}\n`], { DAYPASS_API_KEY: wrongKey });
        expect(status).toBe(0);
        expect(output).toContain('from the variable DAYPASS_API_KEY. Copy it again');
        expect(output).toContain('The key in the input is not a key of Daypass');
      },
    );

    it.skipIf(isMissing)('is asked for three times', async () => {
      const { status, output } = await type([`${wrongKey}\n`, '\n', `${wrongKey}\n`, `${testKey}\n`]);
      expect(status).toBe(1);
      expect(output.split(question).length).toBe(4);
    });

    it.skipIf(isMissing)('ends the script at Ctrl-D and at Ctrl-C', async () => {
      expect(await type(['\u0004'])).toEqual({
        status: 1,
        output: `${asked()} \nNo key was entered. Nothing was changed.`,
      });
      const { status } = await type(['\u0003']);
      expect(status).toBe(130);
    });
  });
});
