import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyHint, runParts, sendJson, startStub, type StubGateway, testKey } from './parts-fixture.ts';

/** What `GET /v1/key` answers, by the first part of the path. */
const good = { object: 'key', active_period: { active: true, ends_at: '2030-01-01T00:00:00Z' }, plan: '30 days' };
const answers: Readonly<Record<string, [number, unknown]>> = {
  good: [200, good],
  wrong: [401, { error: { message: 'The Daypass API key is missing or invalid.' } }],
  noplan: [200, { object: 'key', active_period: null, renew_url: 'https://ai.example/buy' }],
  'ended-plan': [200, { object: 'key', active_period: null, renew_url: 'https://ai.example/buy' }],
  odd: [200, { renew_url: 'x', text: '"active_period":{}', nested: { active_period: {} } }],
  trick: [200, { active_period: null, renew_url: 'https://ai.example/$(id)`\u001b[2J"' }],
  blocked: [403, { error: { message: 'This account is blocked. Contact you@example.com.' } }],
  ended: [402, { error: { message: 'Your plan ended.' } }],
  busy: [429, { error: { message: 'Too many requests without a valid API key from your address.' } }],
  failing: [503, { error: { message: 'The database does not answer.' } }],
};

let stub: StubGateway;

beforeAll(async () => {
  stub = await startStub((path, response) => {
    if (path.startsWith('/ended-plan/v1/chat')) {
      const message = 'Your plan ended at 2026-01-01T00:00:00.000Z. Renew at https://ai.example/buy';
      return sendJson(response, 402, { error: { message } });
    }
    const [status, body] = answers[path.split('/')[1] ?? ''] ?? [404, {}];
    return sendJson(response, status, body);
  });
});
afterAll(() => stub[Symbol.asyncDispose]());

const otherService = { keyVariable: 'TOKO_API_KEY', slug: 'toko' };
const body = `run.options = { action: 'setup', keyFile: process.env.KEY_FILE ?? '' };
locateHome();
readKey();
checkKey();
printLine(run.keyHint);
if (run.key === process.env.EXPECTED) printLine('same');`;

async function runWith(
  { BEFORE: data = {}, ...others }: Readonly<Record<string, unknown>>,
  files: Record<string, string> = {},
  path = 'good',
) {
  const result = await runParts(body, {
    baseUrl: `${stub.url}/${path}`,
    files,
    data: data as Readonly<Record<string, unknown>>,
    environment: { EXPECTED: testKey, ...others } as NodeJS.ProcessEnv,
  });
  expect(result.leftovers).toEqual([]);
  expect(result.stdout + result.stderr).not.toContain(testKey);
  return { ...result, stderr: result.stderr.replaceAll(/\/tmp\S*\/home\//g, '') };
}

/** With a service whose variable is TOKO_API_KEY. */
async function expectNotSent(environment: NodeJS.ProcessEnv) {
  const before = stub.requests.length;
  const { status, stderr } = await runWith({ BEFORE: otherService, ...environment });
  expect(status).toBe(1);
  expect(stderr).toContain('Set TOKO_API_KEY, or pass --key-file FILE.');
  expect(stub.requests.length).toBe(before);
}

describe('key', () => {
  const run = runWith;

  it('the key comes from the variable, without the white space around it', async () => {
    const { status, stdout, stderr } = await run({ DAYPASS_API_KEY: ` \t${testKey}\r\n` });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: `${keyHint}\nsame\n`, stderr: '' });
    expect(stub.requests.at(-1)).toMatchObject({
      path: '/good/v1/key',
      headers: { authorization: `Bearer ${testKey}` },
    });
  });

  it('the key comes from a file with a byte order mark and Windows line ends, which precedes the variable', async () => {
    const files = { 'key.txt': `\uFEFF${testKey} \r\n\r\n` };
    const { status, stdout, stderr } = await run({ DAYPASS_API_KEY: 'dp-old', KEY_FILE: 'key.txt' }, files);
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${keyHint}\nsame\n` });
    expect(stderr).toBe('Other users of this machine can read key.txt. Run: chmod 600 key.txt\n');
  });

  it('the key of another service comes from DAYPASS_API_KEY where its own variable is not set', async () => {
    const { status, stdout } = await run({ BEFORE: otherService, DAYPASS_API_KEY: ` ${testKey}` });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${keyHint}\nsame\n` });
    const both = await run({ BEFORE: otherService, DAYPASS_API_KEY: `${testKey}x`, TOKO_API_KEY: testKey });
    expect(both.stdout).toBe(`${keyHint}\nsame\n`);
  });

  it('the key in DAYPASS_API_KEY is not sent to another service when it begins differently', async () => {
    await expectNotSent({ DAYPASS_API_KEY: 'sk-0123456789abcdef' });
  });

  it('the key in DAYPASS_API_KEY is not sent to another service when one of that name is set up', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'setup-config-'));
    const state = join(folder, '.config', 'daypass');
    await mkdir(state, { recursive: true });
    await expectNotSent({ DAYPASS_API_KEY: testKey, HOME: folder });
    await writeFile(
      join(state, 'env'),
      '# Written by https://other.example/setup.sh, whose option --undo removes it.\n',
    );
    await expectNotSent({ DAYPASS_API_KEY: testKey, HOME: folder });
    await rm(folder, { recursive: true });
  });

  it('the key in DAYPASS_API_KEY is that of a service that had this name at the same address', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'setup-config-'));
    const state = join(folder, '.config', 'daypass');
    await mkdir(state, { recursive: true });
    const comment = `# Written by ${stub.url}/good/setup.sh, whose option --undo removes it.\n`;
    await writeFile(join(state, 'env'), comment);
    const { stdout } = await run({ BEFORE: otherService, DAYPASS_API_KEY: testKey, HOME: folder });
    expect(stdout).toBe(`${keyHint}\nsame\n`);
    await rm(folder, { recursive: true });
  });

  it.each([
    ['absent', { KEY_FILE: 'none' }, 'The key file none does not exist.'],
    ['a folder', { KEY_FILE: '/' }, 'The key file / is a folder. Name a file that holds the key and nothing else.'],
    [
      'the standard input',
      { KEY_FILE: '-' },
      'The key cannot be read from the standard input. Name a file after --key-file.',
    ],
    ['empty', { KEY_FILE: '/dev/null' }, 'The key in the file /dev/null is empty.'],
    ['endless', { KEY_FILE: '/dev/zero' }, 'The key in the file /dev/zero is empty.'],
    ['not plain', { DAYPASS_API_KEY: `${testKey}$(id)` }, 'The key in the variable DAYPASS_API_KEY has characters'],
    [
      'of two lines',
      { DAYPASS_API_KEY: `${testKey}\n${testKey}` },
      'The key in the variable DAYPASS_API_KEY has characters',
    ],
    ['of another service', { DAYPASS_API_KEY: `sk-${testKey}` }, 'is not a key of Daypass: those begin with dp-.'],
    ['missing', {}, 'No key was given, and no terminal is available to ask for it. Set DAYPASS_API_KEY, or pass'],
  ])('ends the script when it is %s, without a request', async (_, environment, message) => {
    const before = stub.requests.length;
    const { status, stdout, stderr } = await run(environment);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stub.requests.length).toBe(before);
  });
});

describe('key', () => {
  it.each([
    ['wrong', `Daypass does not accept the key ${keyHint} from the variable DAYPASS_API_KEY.`],
    ['noplan', `The key ${keyHint} has no active plan. Choose one at https://ai.example/buy, then run this again.`],
    [
      'ended-plan',
      ' has no active plan: Your plan ended at 2026-01-01T00:00:00.000Z. Choose one at https://ai.example/buy,',
    ],
    ['odd', `/odd/v1/key is not that of Daypass.`],
    ['trick', `/trick/buy, then run this again.`],
    ['blocked', 'This account is blocked. Contact you@example.com. Nothing was changed.'],
    ['ended', 'Your plan ended. Nothing was changed.'],
    ['busy', 'Too many requests without a valid API key from your address. Nothing was changed.'],
    ['failing', 'The database does not answer. Nothing was changed.'],
  ])('is refused with the reason: %s', async (answer, message) => {
    const { status, stdout, stderr } = await runWith({ DAYPASS_API_KEY: testKey }, {}, answer);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
  });
});
