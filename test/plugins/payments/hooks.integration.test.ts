import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { signBody } from '../../payments/bank-plugin.ts';
import { Bank } from '../../payments/bank.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { redisUrl } from '../../support/redis.ts';

// Each test starts a gateway.
vi.setConfig({ testTimeout: 60_000 });

const plugin = pathToFileURL(join(import.meta.dirname, '..', '..', 'payments', 'bank-plugin.ts')).href;
const yaml = `${yamlFor('http://127.0.0.1:9')}
plugins: [./bank.mjs]
plans: [{ days: 7, price: 95000 }]
payments: { provider: bank }
`;

let bank: Bank;
let gateway: TestGateway;
beforeEach(async () => {
  bank = await Bank.open();
  vi.stubEnv('SOAK_BANK', bank.url);
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await bank[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
});

async function start(environment: Record<string, string> = {}): Promise<void> {
  gateway = await startGateway({ yaml, environment, files: { 'bank.mjs': `export { plugin } from '${plugin}';` } });
  bank.gateways.push(gateway.url);
}

async function order(): Promise<{ id: string; reference: string }> {
  const response = await fetch(`${gateway.url}/soak/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ accountId: gateway.accountId, days: 7 }),
  });
  return (await response.json()) as { id: string; reference: string };
}

const send = (body: string, signature = signBody(body), headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/hooks/bank`, { method: 'POST', body, headers: { 'x-signature': signature, ...headers } });

/** Adds a job as soon as the queue is up, which a gateway does not wait for. */
async function enqueue(name: string, data: JsonObject): Promise<void> {
  await vi.waitFor(() => gateway.gateway.host.jobs.add(name, data), { timeout: 30_000 });
}

/** Waits until the order has reached a state, as the ledger's own notification says. */
async function reached(id: string, state: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const rows = await gateway.database.query<{ state: string }>('select state from plan_order where id = ?', [id]);
      expect(rows).toEqual([{ state }]);
    },
    { timeout: 40_000, interval: 100 },
  );
}

describe('POST /hooks/{provider}', () => {
  beforeEach(() => start());

  it('takes what is authentic, without a session, a form token or a known Host', async () => {
    const { id, reference } = await order();
    bank.pay(reference);
    const body = JSON.stringify({ reference, providerReference: `B-${reference}`, eventKey: 'one' });
    const response = await send(body, signBody(body), { origin: 'https://elsewhere.example', cookie: 'broken=%' });
    expect(response.status).toBe(200);
    await reached(id, 'paid');
  });

  it.each([
    ['another signature', (body: string) => [body, signBody(`${body} `)]],
    ['a truncated signature', (body: string) => [body, signBody(body).slice(0, 10)]],
    ['no signature', (body: string) => [body, '']],
    ['another body than was signed', (body: string) => [body.replace('one', 'two'), signBody(body)]],
  ] as const)('refuses %s with 403', async (_, forge) => {
    const { reference } = await order();
    const [body, signature] = forge(JSON.stringify({ reference, eventKey: 'one' }));
    const response = await send(body ?? '', signature);
    expect([response.status, await response.text()]).toEqual([403, '']);
    expect(await gateway.database.query('select 1 from payment_notification')).toEqual([]);
  });

  it('refuses more than 64 KB and unknown providers', async () => {
    expect((await send('x'.repeat(70_000))).status).toBe(413);
    expect((await fetch(`${gateway.url}/hooks/nobody`, { method: 'POST', body: '{}' })).status).toBe(404);
  });
});

describe.each([
  { backend: 'postgres', isMissing: false, environment: {} },
  { backend: 'redis', isMissing: redisUrl === undefined, environment: { REDIS_URL: redisUrl ?? '' } },
] as const)('with jobs in $backend', ({ backend, isMissing, environment }) => {
  const run = it.skipIf(isMissing);
  beforeEach(() => start(environment));

  run('a payment whose notification is lost becomes active by a check', async () => {
    const { id, reference } = await order();
    bank.pay(reference);
    await gateway.database.query('update payment_attempt set next_check_at = clock_timestamp()');
    await enqueue('check-payment', { reference });
    await reached(id, 'paid');
  });

  run('a payment becomes active although the queue has lost its check', async () => {
    await vi.waitFor(() => gateway.gateway.host.jobs.state(), { timeout: 30_000 });
    const { id, reference } = await order();
    const forget = backend === 'postgres' ? forgetInPostgres : forgetInRedis;
    await vi.waitFor(async () => expect(await forget(reference)).toBeGreaterThan(0), { timeout: 10_000 });
    bank.pay(reference);
    await gateway.database.query('update payment_attempt set next_check_at = clock_timestamp()');
    await enqueue('sweep-payments', {});
    await reached(id, 'paid');
  });
});

/** @returns how many checks there were */
async function forgetInPostgres(reference: string): Promise<number> {
  const forgotten = await gateway.database.query(
    "delete from bullmq.job where name = 'check-payment' and data ->> 'reference' = ? returning 1",
    [reference],
  );
  return forgotten.length;
}

/** Other tests use this Redis: only the check is removed. @returns how many keys it had */
async function forgetInRedis(reference: string): Promise<number> {
  const client = new Redis(redisUrl ?? '');
  const keys = await client.keys(`gw:jobs:*:check-payment-${reference}-*`);
  if (keys.length > 0) await client.del(...keys);
  client.disconnect();
  return keys.length;
}
