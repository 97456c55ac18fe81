import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { entitlement, principal, rateLimitState } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createKeyReply } from '../../../plugins/keys/describe-key.ts';
import { createExchange, createGauge, createStageHost } from '../../core/business/accounts/fixture.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Database;
let host: Host & AsyncDisposable;
let gauge: { queries: number; failure: Error | undefined };
let exchange: Exchange;
let accountId: string;
let hint: string;
let key: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => {
  ({ accountId, hint, key } = await createAccount(database, 'dp', { name: 'Ani' }));
  const gauged = createGauge(database);
  gauge = gauged.gauge;
  host = createStageHost(gauged.gauged);
  exchange = createExchange({}, { endpoint: { name: 'key', method: 'GET', path: '/v1/key', isMetered: false } });
  exchange.set(principal, { accountId, keyId: 'k', keyHint: hint, limits: undefined, requestCount: 7 });
});
afterEach(async () => {
  await host[Symbol.asyncDispose]();
});

const read = async () => JSON.parse(String((await createKeyReply(host, exchange)).body));

describe('GET /v1/key', () => {
  it('GET /v1/key returns balance, count, period, limits, plan, hint and renew URL, and nothing else', async () => {
    const { startsAt, endsAt } = await grantDays(database, accountId, { days: 1, label: 'trial' });
    exchange.set(entitlement, { period: { startsAt, endsAt, label: 'trial', days: 1 }, secondsLeft: 86_399 });
    const limits = { limit: 60, period: 60, burst: 20, concurrent: 8, remaining: 19 };
    exchange.set(rateLimitState, { ...limits, resetAfter: 1 });
    await expect(read()).resolves.toEqual({
      object: 'key',
      remaining_balance: { unit: 'second', amount: 86_399 },
      request_count: 0,
      active_period: { active: true, starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() },
      rate_limit: limits,
      plan: 'trial',
      plan_days: 1,
      key: hint,
      renew_url: 'https://gateway.example/buy',
    });
  });

  it('GET /v1/key returns the allowance of other requests', async () => {
    const calls = { limit: 60, period: 60, burst: 20, concurrent: 8, remaining: 19 };
    const other = { limit: 600, period: 60, burst: 100, remaining: 99 };
    exchange.set(rateLimitState, { ...calls, resetAfter: 1, other: { ...other, resetAfter: 0.1 } });
    await expect(read()).resolves.toMatchObject({ rate_limit: { ...calls, other } });
  });

  it('GET /v1/key returns null for a missing period, plan and limits', async () => {
    exchange.set(entitlement, { period: undefined, secondsLeft: 0 });
    await expect(read()).resolves.toMatchObject({
      remaining_balance: { unit: 'second', amount: 0 },
      active_period: null,
      plan: null,
      plan_days: null,
      rate_limit: null,
    });
  });

  it('GET /v1/key never contains the key', async () => {
    expect(JSON.stringify(await read())).not.toContain(key.slice(7, -4));
  });

  it('GET /v1/key returns the number of recorded requests', async () => {
    await database.query('update account set request_count = 41 where id = ?', [accountId]);
    await expect(read()).resolves.toMatchObject({ request_count: 41 });
  });

  it('GET /v1/key returns the cached count while the database is down', async () => {
    gauge.failure = new Error('connect ECONNREFUSED');
    await expect(read()).resolves.toMatchObject({ request_count: 7 });
  });

  it('GET /v1/key answers with JSON and cache-control: no-store', async () => {
    const { status, headers } = await createKeyReply(host, exchange);
    expect([status, headers]).toEqual([
      200,
      { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    ]);
  });

  it('GET /v1/key fails with not_supported if no stage authenticates callers', async () => {
    await expect(createKeyReply(host, createExchange())).rejects.toMatchObject({ code: 'not_supported' });
  });
});
