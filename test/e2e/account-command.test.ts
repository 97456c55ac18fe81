import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startAnsweringUpstream } from '../support/answering-upstream.ts';
import { runCommand } from '../support/command-line.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess, yamlFor } from '../support/gateway.ts';

// The gateway and the tests, which run the commands, are two processes.
vi.setConfig({ testTimeout: 60_000 });

const listener = `
export const plugin = {
  name: 'listener',
  register({ gateway }) {
    for (const name of ['account.blocked', 'plan.started'])
      gateway.on(name, (payload, host) => host.log.info('heard ' + name + ' ' + JSON.stringify(payload)));
  },
};
`;

let upstream: Awaited<ReturnType<typeof startAnsweringUpstream>>;
let home: GatewayHome;
let gateway: GatewayProcess;
beforeAll(async () => {
  upstream = await startAnsweringUpstream(300);
  home = await createGatewayHome('');
  await writeFile(join(home.folder, 'listener.mjs'), listener);
  await home.write(`plugins: ["./listener.mjs"]\n${yamlFor(upstream.baseUrl)}`);
  gateway = await home.start();
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function command(...words: string[]): Promise<string> {
  const { code, out, errors } = await runCommand(['--config', home.file, ...words], { DATABASE_URL: home.databaseUrl });
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  return out;
}

const ask = () =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${home.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'test', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
  });

it('a running gateway refuses an account that a command blocks, notifies plugins, and completes its open stream', async () => {
  const streaming = await ask();
  expect(streaming.status).toBe(200);
  expect(await command('account', 'block', home.accountId, '--reason', 'abuse')).toMatch(/blocked +\d{4}-/);
  const refusal = async () => {
    const response = await ask();
    return [response.status, await response.text()];
  };
  await expect.poll(refusal).toEqual([403, expect.stringContaining('"code":"account_blocked"')]);
  expect(await streaming.text()).toContain('data: [DONE]');
  await expect.poll(() => gateway.output()).toContain(`heard account.blocked {"accountId":"${home.accountId}"}`);
});

it('a command that grants days to a new account reaches plugins too', async () => {
  const { account } = JSON.parse(await command('key', 'create', '--name', 'Budi', '--days', '1', '--json'));
  await expect.poll(() => gateway.output()).toMatch(new RegExp(`heard plan\\.started \\{"endsAt".*${account}`));
});

it('a command about an account that does not exist ends with the sentence and exit code 3', async () => {
  const words = ['--config', home.file, 'account', 'show', 'nobody@example.com'];
  const { code, out, errors } = await runCommand(words, { DATABASE_URL: home.databaseUrl });
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(errors).toMatch(/^No account .*nobody@example\.com.*\n$/);
});
