import { beforeEach, expect, it } from 'vitest';
import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { Keeper } from '#core/extension/keeper.ts';
import type { RateLimits } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { getLimiter, readAllowance, getServingOptions } from '../../../plugins/rate-limit/allowance.ts';
import { silentLog } from '../../support/database.ts';

const options = { limit: 60, period: 60, burst: 20, concurrent: 8, other: { limit: 600, period: 60, burst: 100 } };
let now: number;
let host: Host;

beforeEach(() => {
  now = Date.UTC(2027, 0, 1);
  const keeper = new Keeper();
  host = {
    shared: new MemoryShared(() => now),
    log: silentLog,
    now: () => now,
    monotonic: () => now,
    keep: (key: string, create: () => object) => keeper.keep(key, create),
  } as unknown as Host;
  getServingOptions(host).options = options;
});

function account(ofPlan?: RateLimits, ofKey?: RateLimits): AccountRecord {
  const [startsAt, endsAt] = [new Date(now - 1_000), new Date(now + 86_400_000)];
  const key = { id: 'key-1', limits: ofKey };
  return { key, periods: [{ startsAt, endsAt, label: 'test', limits: ofPlan }] } as unknown as AccountRecord;
}

it('reading an allowance returns what is left and in flight, and takes nothing', async () => {
  const limits = { ...options };
  await getLimiter(host).take('key-1', limits);
  await getLimiter(host).take('key-1', limits);
  const expected = {
    limit: 60,
    period: 60,
    burst: 20,
    concurrent: 8,
    remaining: 18,
    resetAfter: 2,
    running: 2,
  };
  expect(await readAllowance(host, account(), now)).toEqual(expected);
  expect(await readAllowance(host, account(), now)).toEqual(expected);
});

it('the limits of the key precede those of the running plan', async () => {
  const allowance = await readAllowance(host, account({ limit: 120, burst: 40 }, { burst: 5 }), now);
  expect(allowance).toMatchObject({ limit: 120, burst: 5, remaining: 5, concurrent: 8 });
});

it('there is no allowance without the stage or without a key', async () => {
  expect(await readAllowance(host, { ...account(), key: undefined }, now)).toBeUndefined();
  getServingOptions(host).options = undefined;
  expect(await readAllowance(host, account(), now)).toBeUndefined();
});
