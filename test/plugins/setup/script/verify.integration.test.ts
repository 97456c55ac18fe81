import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { renderShell } from '../../../../plugins/setup/script/render-scripts.ts';
import { type TestGateway, wholePipeline } from '../../../support/gateway.ts';
import { startDemoGateway } from './demo-gateway.ts';
import { createHome, type EngineOptions } from './engine-fixture.ts';
import { runParts, systemTools, testKey, toolFolder } from './parts-fixture.ts';
import { sampleData, sampleTool } from './sandbox.ts';
import { describeInShells, hasCommand, runsEverywhere, runShell } from './shells.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startDemoGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const formats = ['chat', 'responses', 'messages', 'gemini'];

/** One tool for each format, and one more whose settings are a file, lines and a variable. */
function script(): string {
  const tools = formats.map((format) =>
    sampleTool(
      format,
      [
        {
          kind: 'file',
          format: 'json',
          path: `~/.${format}/a.json`,
          text: '{ "key": "@KEY@", "model": { "name": "@MODEL@" } }',
        },
      ],
      { format },
    ),
  );
  const lines = sampleTool('lines', [
    { kind: 'file', format: 'block', path: '~/.lines/rc', text: 'model @MODEL@' },
    { kind: 'file', format: 'text', path: '~/.lines/model', text: '@MODEL@' },
    { kind: 'variable', name: 'DAYPASS_API_KEY', value: '@KEY@' },
  ]);
  const data = sampleData(gateway.url, [...tools, lines]);
  return renderShell({ ...data, defaults: formats.map((format) => ({ format, model: 'dp/demo' })) });
}

const ids = [...formats, 'lines'].join();

async function openHome(options: EngineOptions = {}) {
  const home = await createHome(gateway.url);
  const run = (args: readonly string[], more: EngineOptions = {}) => {
    const environment = { DAYPASS_API_KEY: gateway.key };
    return home.run(args, { script: script(), environment, ...options, ...more });
  };
  return { ...home, run };
}

let settled: Awaited<ReturnType<typeof openHome>>;

beforeAll(async () => {
  settled = await openHome();
  expect(await settled.run(['--yes', '--tools', ids])).toMatchObject({ status: 0, stderr: '' });
  await copy(settled.home, `${settled.home}.saved`);
});
afterAll(() => settled[Symbol.asyncDispose]());

/** The home in which the script has set all tools up, as it left it: its records have the path of the home. */
async function openSettledHome() {
  await rm(settled.home, { recursive: true });
  await copy(`${settled.home}.saved`, settled.home);
  return settled;
}

const copy = (from: string, to: string) => runShell(['cp'], ['-a', from, to], { env: process.env });

const check = (url: string, key: string) =>
  runParts(
    `run.options = { action: 'setup', keyFile: '' }; locateHome(); readKey(); checkKey(); printLine('accepted');`,
    {
      baseUrl: url,
      environment: { DAYPASS_API_KEY: key },
    },
  );

describe('key check', () => {
  it('the key check names the address of plans to an account without one', async () => {
    const { database } = gateway;
    const never = await createAccount(database, 'dp', { name: 'Never' });
    const { stdout, stderr } = await check(gateway.url, never.key);
    expect(stdout).toBe('');
    expect(stderr).toMatch(
      /^The key dp-\S+ has no active plan\. Choose one at http:\S+\/buy, then run this again\.\n$/,
    );
  });

  it('the key check accepts a key without a plan where the pipeline needs none', async () => {
    await using open = await startDemoGateway(wholePipeline.replace('  - plan\n', ''));
    const { key } = await createAccount(open.database, 'dp', { name: 'Open' });
    expect(await check(open.url, key)).toMatchObject({ status: 0, stdout: 'accepted\n', stderr: '' });
  });
});

describeInShells('--verify', ({ command: shell }) => {
  it('says that every tool works, and asks each model in each format once', async () => {
    // Every shell writes the same, says setup.integration.test.ts.
    const home = await openSettledHome();
    if (runsEverywhere) {
      expect(await home.run(['--undo', '--yes'], { shell })).toMatchObject({ status: 0, stderr: '' });
      expect(await home.run(['--yes', '--tools', ids], { shell })).toMatchObject({ status: 0, stderr: '' });
    }
    const before = await home.snapshot();
    // The key of the settings counts, not the one of the shell.
    const { status, stdout, stderr } = await home.run(['--verify'], {
      shell,
      environment: { DAYPASS_API_KEY: testKey },
    });
    const lines = stdout.trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(/^ {2}Tool \w+ +works +dp\/demo, \d+(\.\d)? s$/);
    expect({ status, stderr, lines: lines.length }).toEqual({ status: 0, stderr: '', lines: 5 });
    expect(await home.snapshot()).toStrictEqual(before);
  });
});

describe('--verify', () => {
  it('--verify says which settings have changed', async () => {
    const home = await openSettledHome();
    await home.write({
      '.chat/a.json': '{ "model": { "name": "gpt" }, "theme": "dark" }',
      '.responses/a.json': '{',
      '.messages/a.json': JSON.stringify({
        theme: 'x',
        ...(JSON.parse(await home.read('.messages/a.json')) as object),
      }),
      '.lines/rc': `# mine\n${(await home.read('.lines/rc')).replace('model dp/demo', 'model gpt')}`,
      '.lines/model': 'gpt',
      '.config/daypass/env': '',
    });
    await rm(join(home.home, '.gemini/a.json'));
    const { status, stdout } = await home.run(['--verify']);
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /Tool chat +failed +settings changed: key, model\.name\. Run the setup again to restore them\n/,
    );
    expect(stdout).toMatch(/Tool responses +failed +settings changed: ~\/\.responses\/a\.json cannot be read \(.*\)\./);
    expect(stdout).toMatch(/Tool messages +works/);
    expect(stdout).toMatch(/Tool gemini +failed +settings changed: ~\/\.gemini\/a\.json is gone\./);
    expect(stdout).toMatch(
      /Tool lines +failed +settings changed: the block in ~\/\.lines\/rc, ~\/\.lines\/model, \$DAYPASS_API_KEY\./,
    );
  });

  it('--verify starts each tool that works without a terminal, with the variables and the model of its settings', async () => {
    const key = { kind: 'variable', name: 'DAYPASS_API_KEY', value: '@KEY@' } as const;
    const trial = ['-m', '@MODEL@', 'Reply with the word ready.'];
    const tools = ['speaker', 'mute', 'broken'].map((id) => sampleTool(id, [key], { format: 'chat', trial }));
    const text = renderShell({
      ...sampleData(gateway.url, tools),
      defaults: [{ format: 'chat', model: 'dp/demo' }],
    });
    await using home = await openHome({ script: text });
    const bin = join(home.folder, 'bin');
    const programs = {
      speaker: `[ "$DAYPASS_API_KEY" = '${gateway.key}' ] && [ "$*" = '-m dp/demo Reply with the word ready.' ] && echo ready`,
      mute: ':',
      broken: 'echo "warning" >&2; echo "no answer to $DAYPASS_API_KEY" >&2; exit 3',
    };
    await mkdir(bin);
    for (const [name, code] of Object.entries(programs))
      await writeFile(join(bin, name), `#!/bin/sh\n${code}\n`, { mode: 0o755 });
    const path = `${bin}:${process.env['PATH']}`;
    expect(await home.run(['--yes'], { path })).toMatchObject({ status: 0, stderr: '' });
    const { status, stdout } = await home.run(['--verify'], { path, environment: {} });
    expect(stdout).toMatch(/Tool speaker +works +dp\/demo, \d+\.\d s; it answered in \d+\.\d s\n/);
    expect(stdout).toMatch(/Tool mute +failed +the gateway answers, but mute ended without an answer\n/);
    expect(stdout).toMatch(/Tool broken +failed +the gateway answers, but broken ended with 3: no answer to dp-\S+\n/);
    expect(stdout).not.toContain(gateway.key);
    expect(status).toBe(1);
  });

  it('--verify says which settings are older than the catalog', async () => {
    const home = await openSettledHome();
    const renamed = script().replaceAll('model @MODEL@', 'model now/@MODEL@');
    const { status, stdout } = await home.run(['--verify'], { script: renamed });
    expect(status).toBe(1);
    expect(stdout).toMatch(/Tool lines +outdated +its settings are not those that .* gives now\. Run the setup again/);
    expect(stdout).toMatch(/Tool chat +works/);
    expect((await home.run(['--verify'])).stdout).not.toContain('outdated');
  });

  it('--verify names the files into which the settings have not been pasted yet', async () => {
    const path = await toolFolder([...systemTools, hasCommand('curl') ? 'curl' : 'wget']);
    const template = `{ "url": "${gateway.url}/v1", "key": "@KEY@" }`;
    const manual = sampleTool(
      'pasted',
      [
        { kind: 'file', format: 'json', path: '~/.pasted/first.json|~/.pasted/a.json', text: template },
        { kind: 'file', format: 'json', path: '~/.pasted/other.json', text: '{ "model": "@MODEL@" }' },
      ],
      { format: 'chat' },
    );
    const data = sampleData(gateway.url, [manual]);
    await using home = await openHome({
      script: renderShell({ ...data, defaults: [{ format: 'chat', model: 'dp/demo' }] }),
    });
    await home.write({ '.pasted/a.json': '{ "mine": 1 }' });
    const setUp = await home.run(['--yes', '--tools', 'pasted'], { path });
    expect(setUp.stdout).toMatch(/Tool pasted +manual/);
    const { status, stdout } = await home.run(['--verify']);
    expect(stdout).toMatch(
      /^ {2}Tool pasted +manual +~\/\.pasted\/a\.json: put the settings there, or run the setup again/,
    );
    expect(status).toBe(1);
    await home.write({ '.pasted/a.json': template.replace('@KEY@', gateway.key) });
    expect(await home.run(['--verify'])).toMatchObject({ status: 0, stdout: expect.stringContaining('works') });
    await rm(path, { recursive: true });
  });

  it('--verify gives the reason when the model does not answer', async () => {
    await using home = await openHome();
    await home.run(['--yes', '--tools', ids, '--model', 'dp/other']);
    const { status, stdout } = await home.run(['--verify']);
    expect(status).toBe(1);
    expect(stdout.match(/failed +the gateway answered with 5\d\d: ./g)).toHaveLength(5);
  });

  it('--verify gives the reason when the key is no longer valid', async () => {
    const home = await openSettledHome();
    for (const path of ['.config/daypass/env', ...formats.map((format) => `.${format}/a.json`)]) {
      await home.write({ [path]: (await home.read(path)).replace(gateway.key, testKey) });
    }
    const { status, stdout } = await home.run(['--verify', '--key-file', '/dev/stdin'], {
      prefix: ['sh', '-c', `printf %s '${testKey}' | "$@"`, 'sh'],
    });
    expect(status).toBe(1);
    expect(stdout).toMatch(/Tool lines +failed +the key dp-Ab3d\.\.\.\S+ is not valid\n/);
  });

  it('--verify says so when nothing is set up', async () => {
    await using home = await openHome();
    expect(await home.run(['--verify'])).toMatchObject({ status: 1, stdout: '' });
    expect(await home.snapshot()).toStrictEqual({});
  });
});
