import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import type { Shared } from '#core/platform/shared/shared.ts';
import type { Admission } from '../../../../plugins/upstream/health/breaker.ts';
import { RouteHealth } from '../../../../plugins/upstream/health/route-health.ts';
import { silentLog } from '../../../support/database.ts';
import { refused, routeTo, upstreamAt } from '../fixture.ts';

const count = 50;
const route = routeTo(upstreamAt('http://127.0.0.1:1/v1'));
const admission: Admission = { isProbe: false };

/** What the instances share, with messages that take a while, and the messages and claims so far. */
let store: MemoryShared;
let published: number;
let claims: number;
let instances: RouteHealth[];

beforeEach(async () => {
  vi.useFakeTimers();
  store = new MemoryShared(() => Date.now());
  published = claims = 0;
  const { cache, events } = store;
  const shared = {
    kind: 'redis',
    limiter: { instances: count },
    cache: {
      get: (key: string) => cache.get(key),
      set: (key: string, value: Buffer, seconds: number) => cache.set(key, value, seconds),
      release: (key: string, owner: string) => cache.release(key, owner),
      claim: (...parameters: Parameters<typeof cache.claim>) => {
        claims++;
        return cache.claim(...parameters);
      },
    },
    events: {
      subscribe: events.subscribe.bind(events),
      publish: async (channel: string, message: string) => {
        published++;
        setTimeout(() => void events.publish(channel, message), 1 + Math.random());
      },
    },
  } as unknown as Shared;
  instances = Array.from({ length: count }, (_, index) => {
    const health = new RouteHealth({
      instance: `instance-${index}`,
      shared,
      log: silentLog,
      // Clocks of machines differ by some ms.
      now: () => Date.now() + (index % 20),
      monotonic: () => Date.now(),
    });
    Object.assign(health.options, { failures: 1, cooldown: 5_000 });
    health.addRoutes([route]);
    return health;
  });
  await pass(100);
});
afterEach(async () => {
  await Promise.all(instances.map((health) => health[Symbol.asyncDispose]()));
  vi.useRealTimers();
});

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
const states = () => new Set(instances.map((health) => health.getStatuses([route])[0]?.state));
const failAll = () => instances.forEach((health) => health.recordFailure(route, admission, refused('connection lost')));

it('an upstream that fails for all instances at once is reported by some of them, not by each to each', async () => {
  failAll();
  await pass(3_000);
  expect([...states()]).toEqual(['open']);
  expect(published).toBeGreaterThan(0);
  expect(published).toBeLessThan(count / 2);
});

it('while one instance probes, the others ask once a second whether they may, not for each request', async () => {
  failAll();
  await pass(5_100);
  const [first] = instances as [RouteHealth];
  expect(await first.admit(route)).toMatchObject({ isProbe: true });
  claims = 0;
  for (let request = 0; request < 100; request++) {
    for (const health of instances) expect(await health.admit(route)).toBeUndefined();
    await pass(10);
  }
  expect(claims).toBeLessThanOrEqual(2 * count);
});

it('a probe whose instance has adopted a report meanwhile does not keep the others from probing', async () => {
  failAll();
  await pass(5_100);
  const [first, second] = instances as [RouteHealth, RouteHealth];
  const probe = (await first.admit(route)) as Admission;
  // The claim is free again before the report of its failure has arrived, so another instance probes as well.
  first.recordFailure(route, probe, refused('still failing'));
  await pass(0);
  const overlapping = (await second.admit(route)) as Admission;
  expect(overlapping).toMatchObject({ isProbe: true });
  await pass(100);
  second.recordFailure(route, overlapping, refused('still failing'));
  await pass(10_100);
  expect([...states()]).toEqual(['half_open']);
  expect(await instances[2]?.admit(route)).toMatchObject({ isProbe: true });
});
