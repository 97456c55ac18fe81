import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runCommand } from '../support/command-line.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess } from '../support/gateway.ts';
import { PageClient } from '../support/page-client.ts';
import { redisUrl } from '../support/redis.ts';

// Gateways are processes, as they are for an operator.
vi.setConfig({ testTimeout: 90_000 });

const yaml = (model: string, key = 'sk-plain') => `
pipeline: [auth, format, upstream, log]
operators: [ops@example.com]
upstreams: { one: { format: chat, base_url: "http://127.0.0.1:9/v1", api_keys: [${key}] } }
models: { ${model}: { routes: [one/model-there] } }
`;

let home: GatewayHome;
const gateways: GatewayProcess[] = [];
beforeAll(async () => {
  home = await createGatewayHome(yaml('good'));
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

const command = async (...words: string[]) => {
  const { code, out, errors } = await runCommand(['--config', home.file, ...words], { DATABASE_URL: home.databaseUrl });
  if (code !== 0) throw new Error(errors);
  return out + errors;
};
const served = async ({ url }: GatewayProcess) => {
  const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${home.key}` } });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
};
const everywhere = (model: string) =>
  expect
    .poll(() => Promise.all(gateways.map(served)), { timeout: 20_000 })
    .toEqual(gateways.map(() => [`dp/${model}`]));
const lastNumber = async () =>
  Number(/^ *(\d+) /m.exec((await command('history')).split('\n').slice(1).join('\n'))?.[1]);

it('a change is rolled back on all instances, also after a restart, until the file changes again', async () => {
  const start = async () => gateways.push(await home.start({ REDIS_URL: redisUrl ?? '' }));
  await Promise.all(Array.from({ length: redisUrl === undefined ? 1 : 2 }, start));
  await everywhere('good');
  await home.write(yaml('bad'));
  await everywhere('bad');
  await expect.poll(lastNumber).toBe(2);

  expect(await command('diff')).toMatch(/from 1 to 2\n[^]*- models: \{ good: [^]*\+ models: \{ bad: /);
  const printed = await command('history', '1');
  expect(printed).toMatch(/models: \{ good: \{[^]*/);
  expect(printed).not.toContain('sk-plain');

  expect(await command('rollback', '--note', 'it was bad', '--yes')).toContain(
    'configuration 1 is in effect instead of',
  );
  await everywhere('good');
  await gateways.pop()?.end('SIGTERM');
  await start();
  await everywhere('good');
  expect(gateways.at(-1)?.output()).toMatch(/Note +.*was rolled back by .*\("it was bad"\): configuration 1 serves/);

  await home.write(yaml('better'));
  await everywhere('better');
  await expect.poll(lastNumber).toBe(4);
  expect(JSON.parse(await command('history', '--limit', '2', '--json'))).toMatchObject({
    configurations: [{ id: 4, brought_by: 'file', served_at: expect.stringMatching(/Z$/) }, { id: 3 }],
    next: '3',
  });
  expect(await command('history', '--after', '2')).toMatch(/\n1 .* gateway.yaml\n$/);
  expect(JSON.parse(await command('history', '1', '--json'))).toMatchObject({ id: 1, text: expect.any(String) });
});

it('the next bad change is rolled back to the configuration that served before it, too', async () => {
  expect(await command('history')).not.toContain('serves until the file changes');
  expect(await command('rollback', '--yes')).toContain('configuration 3 is in effect instead of');
  await everywhere('good');
  await command('rollback', '--release');
  await everywhere('better');
});

it('a file that was taken back serves again once that is released', async () => {
  await command('rollback', '1', '--yes');
  await everywhere('good');
  expect(await command('rollback', '--release')).toBe('gateway.yaml is in effect again.\n');
  await everywhere('better');
  expect(await command('rollback', '--release')).toBe(
    'Nothing to release: gateway.yaml is in effect; no change was rolled back.\n',
  );
  const operator = new PageClient(gateways[0]?.url ?? '');
  await operator.submit('/sign-in', '/sign-in', { name: 'Ops', email: 'ops@example.com' });
  const { text } = await operator.get('/operator/configuration');
  expect(text).toMatch(/it was bad[^]*command \(|command \([^]*it was bad/);
});

/** What an operator does on the page of a configuration, at one instance. */
const submit = async (number: number) => {
  const operator = new PageClient(gateways[0]?.url ?? '');
  await operator.submit('/sign-in', '/sign-in', { name: 'Ops', email: 'ops@example.com' });
  const path = `/operator/configuration/${number}`;
  return operator.submit(path, path, { note: 'it was slow' });
};

it('the page of one instance takes a change back on all, as the command does, and releases it', async () => {
  const file = await lastNumber();
  expect(await submit(1)).toMatchObject({ status: 303, location: '/operator/configuration' });
  await everywhere('good');
  expect(await command('history')).toContain('rolled back by ops@example.com: configuration 1 serves');
  expect((await submit(file)).status).toBe(303);
  await everywhere('better');
  expect(await command('rollback', '--release')).toMatch('Nothing to release');
});

it('nothing is taken back in favour of a configuration whose own secret the file no longer has', async () => {
  await home.write(yaml('better', 'sk-new'));
  const refused = command('rollback', '1', '--yes');
  await expect(refused).rejects.toThrow(/configuration 1 has a secret in line \d+ that .* does not have/);
  const { status, text } = await submit(1);
  expect([status, /Nothing has changed: configuration 1 has a secret in line \d+/.test(text)]).toEqual([422, true]);
  await everywhere('better');
});

it('a configuration that never served, or is what the file says already, is refused', async () => {
  await expect(command('rollback', '99', '--yes')).rejects.toThrow(/Configuration 99 not found/);
  const last = await lastNumber();
  await expect(command('rollback', `${last}`, '--yes')).rejects.toThrow(/gateway.yaml already matches configuration/);
});
