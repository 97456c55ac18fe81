import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { Canaries } from '../../plugins/canary/record/canaries.ts';
import { runCommand } from '../support/command-line.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess } from '../support/gateway.ts';
import { redisUrl } from '../support/redis.ts';

// Gateways are processes, as they are for an operator, and one of them is killed.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const accountCount = 100;
/** What the support code puts in front of gateway.yaml. */
const listen = 'listen: { port: 0, notice_period: 0, drain_timeout: 5 }';
const environment = redisUrl === undefined ? {} : { REDIS_URL: redisUrl };

let isFailing = false;
/** One answer in five, of any account: at every fifth, whole rounds of ten accounts would always fail for the same two. */
const failsNow = () => isFailing && Math.random() < 0.2;
const upstreamOf = (name: string, fails: () => boolean) =>
  createUpstream(
    (_request, response) => {
      if (fails()) return response.json(500, { error: { message: 'broken' } });
      const message = { role: 'assistant', content: name };
      return response.json(200, { choices: [{ index: 0, finish_reason: 'stop', message }] });
    },
    { keeps: false },
  );
const yamlFor = (baseUrl: string) => `
pipeline: [auth, plan, format, upstream, log]
upstreams: { one: { format: chat, base_url: "${baseUrl}/v1" } }
models: { test: { routes: [one/model-there] } }
`;

let before: FaultyUpstream;
let after: FaultyUpstream;
let home: GatewayHome;
let keys: string[];
const gateways: GatewayProcess[] = [];

beforeAll(async () => {
  before = await upstreamOf('before', () => false);
  after = await upstreamOf('after', failsNow);
  home = await createGatewayHome(yamlFor(before.url));
  await writeFile(join(home.folder, 'next.yaml'), `${listen}\n${yamlFor(after.url)}`);
  const period = { days: 1, reason: 'grant', label: 'test' } as const;
  keys = [];
  for (let index = 0; index < accountCount; index++)
    keys.push((await createAccount(home.database, 'dp', { name: `Account ${index}`, period })).key);
  const start = () => home.start(environment);
  gateways.push(...(await Promise.all(redisUrl === undefined ? [start()] : [start(), start()])));
});
afterAll(async () => {
  for (const part of [home, before, after]) await part?.[Symbol.asyncDispose]();
});

const command = async (...words: string[]) => {
  const { code, out, errors } = await runCommand(['--config', home.file, ...words], {
    DATABASE_URL: home.databaseUrl,
    ...environment,
  });
  if (code !== 0) throw new Error(errors);
  return out;
};
const call = async ({ url }: GatewayProcess, key: string) => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'dp/test', messages: [{ role: 'user', content: 'hi' }] }),
  });
  const { choices } = (await response.json()) as { choices?: { message: { content: string } }[] };
  return choices?.[0]?.message.content ?? `${response.status}`;
};
const sides = async (gateway: GatewayProcess) => {
  const found: string[] = [];
  for (let first = 0; first < keys.length; first += 10)
    found.push(...(await Promise.all(keys.slice(first, first + 10).map((key) => call(gateway, key)))));
  return found;
};

/** Ms between two rounds: a judgement waits for its time, not for more requests than enough. */
const pause = 250;

/** Sends a request of each account to one instance after the other. Judgements are seconds apart, however fast the machine is. */
async function sendUntilEnded(canaries: Canaries, look: (found: string[]) => void = () => undefined): Promise<void> {
  let round = 0;
  const send = async () => {
    look(await sides(gateways[round++ % gateways.length] as GatewayProcess));
    return canaries.findRunning();
  };
  await expect.poll(send, { timeout: 120_000, interval: pause }).toBeUndefined();
}

it('a canary that is no worse becomes full at the end of its time, on both instances', async () => {
  await command('reload', join(home.folder, 'next.yaml'), '--canary', '50%');
  const canaries = new Canaries(home.database, { record: () => Promise.resolve() });
  for (const gateway of gateways)
    await expect.poll(() => sides(gateway), { timeout: 30_000, interval: pause }).toContain('after');
  for (const gateway of gateways) await sides(gateway);
  expect((await canaries.findRunning())?.end).toBeUndefined();

  await home.database.query(
    'update configuration_canary set until = clock_timestamp(), judge_after = clock_timestamp()',
  );
  // It keeps its share until the counts are sufficient.
  await sendUntilEnded(canaries);
  const [ended] = await canaries.list(1);
  expect(ended?.end).toMatchObject({
    outcome: 'full',
    reason: expect.stringMatching(/^no worse after its time: 0 fail/),
  });
  expect(ended?.lateLooks).toBeGreaterThan(0);
  for (const gateway of gateways)
    await expect
      .poll(async () => new Set(await sides(gateway)), { timeout: 20_000, interval: pause })
      .toEqual(new Set(['after']));
  await command('rollback', '--release');
  for (const gateway of gateways)
    await expect
      .poll(async () => new Set(await sides(gateway)), { timeout: 20_000, interval: pause })
      .toEqual(new Set(['before']));
});

it('two instances serve a canary to the same accounts, also after a kill, and take it back together when it fails', async () => {
  // A tenth would be less than five accounts, too few to judge, in one run of forty.
  await command('reload', join(home.folder, 'next.yaml'), '--canary', '30%');
  const canaries = new Canaries(home.database, { record: () => Promise.resolve() });
  const last = gateways.length - 1;
  await expect
    .poll(() => sides(gateways[last] as GatewayProcess), { timeout: 30_000, interval: pause })
    .toContain('after');
  await expect
    .poll(() => sides(gateways[0] as GatewayProcess), { timeout: 30_000, interval: pause })
    .toContain('after');
  const chosen = await sides(gateways[0] as GatewayProcess);
  for (const gateway of gateways) expect(await sides(gateway)).toEqual(chosen);

  await gateways[last]?.end('SIGKILL');
  gateways[last] = await home.start(environment);
  expect(await sides(gateways[last])).toEqual(chosen);

  isFailing = true;
  const strays: string[] = [];
  await sendUntilEnded(canaries, (found) => {
    strays.push(...found.filter((side, index) => chosen[index] === 'before' && side !== 'before'));
  });
  expect(strays).toEqual([]);
  const [ended] = await canaries.list(1);
  expect(ended?.end).toMatchObject({
    outcome: 'worse',
    reason: expect.stringMatching(/^failures: \d+ of \d+ requests/),
  });
  for (const gateway of gateways)
    await expect
      .poll(async () => new Set(await sides(gateway)), { timeout: 20_000, interval: pause })
      .toEqual(new Set(['before']));
  for (const { output } of gateways)
    expect(output()).toMatch(/warn +canary 2 was worse and has been rolled back automatically: failures/);
});
