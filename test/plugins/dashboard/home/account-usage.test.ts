import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import { getLiveBus, publishLive } from '#core/web/live/live-bus.ts';
import { readAccountUsage } from '../../../../plugins/dashboard/home/account-usage.ts';
import { hubHost } from '../../../core/web/live/fixture.ts';
import { hour, now as start } from './fixture.ts';

const account = '019aa5f0-0000-7000-8000-000000000001';
const other = '019aa5f0-0000-7000-8000-000000000002';
let now: number;
let queries: number;
let isConnected: boolean;
let isAway: boolean;
let isRedisConnected: boolean;
let host: Host;

beforeEach(() => {
  [now, queries, isConnected, isAway] = [start, 0, true, false];
  const notifications = {
    get isConnected() {
      return isConnected;
    },
    listen: async () => () => undefined,
  };
  const query = async () => {
    queries++;
    if (isAway) throw new Error('no database');
    return [];
  };
  ({ host } = hubHost({ database: { query, notifications } as never, now: () => now }));
  isRedisConnected = true;
});

/** A host of one of many instances. */
function shareHost(): void {
  const events = {
    get isConnected() {
      return isRedisConnected;
    },
    publish: () => Promise.resolve(),
    subscribe: () => Promise.resolve(() => undefined),
  };
  host = { ...host, shared: { ...host.shared, kind: 'redis', events } as never };
}
afterEach(() => {
  isAway = false;
});

const read = (id = account) => readAccountUsage(host, id, '24h');

it('the usage of an account asks the database once for all who look at an account, until it has new records', async () => {
  const [first, second] = await Promise.all([read(), read()]);
  expect(second).toBe(first);
  const asked = queries;
  await read();
  publishLive(host, 'requests', [other]);
  await read();
  expect(queries).toBe(asked);
  publishLive(host, 'requests', [account]);
  expect(await read()).not.toBe(first);
});

it('the usage of an account asks only for the recent hours when there are new records', async () => {
  await read();
  const first = queries;
  publishLive(host, 'requests', [account]);
  await read();
  expect(queries - first).toBe(first - 2);
});

it('the usage of an account asks for everything when the hour changes', async () => {
  await read();
  const first = queries;
  now += hour;
  await read();
  expect(queries).toBe(2 * first);
});

it('the usage of an account is not kept while no new records could be heard of', async () => {
  await read();
  const asked = queries;
  isConnected = false;
  await read();
  expect(queries).toBeGreaterThan(asked);
});

it('the usage of an account is not kept while other instances could not be heard', async () => {
  shareHost();
  await read();
  await getLiveBus(host).ready();
  await read();
  const asked = queries;
  await read();
  expect(queries).toBe(asked);
  isRedisConnected = false;
  await read();
  expect(queries).toBeGreaterThan(asked);
});

it('the usage of an account is asked for again after a failure', async () => {
  isAway = true;
  await expect(read()).rejects.toThrow('no database');
  isAway = false;
  expect((await read()).latest).toEqual([]);
});
