import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Route } from '#core/config/catalog/catalog.ts';
import type { RedisShared } from '#core/platform/shared/redis.ts';
import type { Admission } from '../../../../plugins/upstream/health/breaker.ts';
import { RouteHealth } from '../../../../plugins/upstream/health/route-health.ts';
import { storeReset } from '../../../../plugins/upstream/health/route-report.ts';
import { clearKeys, openRedis, startProxy } from '../../../core/platform/shared/fixture.ts';
import { silentLog } from '../../../support/database.ts';
import { redisUrl } from '../../../support/redis.ts';
import type { TcpProxy } from '../../../support/tcp-proxy.ts';
import { requesterNamed, refused, routeTo, upstreamAt } from '../fixture.ts';

/** Room for a busy machine. */
const soon = { timeout: 20_000 };
const admission: Admission = { isProbe: false };

let name: string;
let route: Route;
let now: number;
let running: AsyncDisposableStack;
beforeEach(() => {
  name = randomUUID();
  route = routeTo(upstreamAt('http://127.0.0.1:1/v1', { name }));
  now = Date.parse('2026-01-01T00:00:00Z');
  running = new AsyncDisposableStack();
});
afterEach(async () => {
  await running.disposeAsync();
  await clearKeys(name);
});

interface Instance extends AsyncDisposable {
  readonly health: RouteHealth;
  readonly shared: RedisShared;
  state(): string | undefined;
}

/** An instance of the gateway as far as routes go, in the Redis of the tests or on the way to it that is given. */
async function start(url?: string, step = 0): Promise<Instance> {
  const shared = await openRedis(url);
  const clocks = { now: () => now + step, monotonic: () => now };
  const health = new RouteHealth({ instance: randomUUID(), shared, log: silentLog, ...clocks });
  Object.assign(health.options, { failures: 1, cooldown: 5_000 });
  health.addRoutes([route]);
  let isRunning = true;
  const stop = async () => {
    if (!isRunning) return;
    isRunning = false;
    await health[Symbol.asyncDispose]();
    await shared[Symbol.asyncDispose]();
  };
  running.defer(stop);
  return {
    health,
    shared,
    state: () => health.getStatuses([route])[0]?.state,
    [Symbol.asyncDispose]: stop,
  };
}

/** Starts an instance whose way to Redis can be taken away. */
async function startApart(): Promise<Instance & { readonly proxy: TcpProxy }> {
  const proxy = running.use(await startProxy());
  return { ...(await start(proxy.url)), proxy };
}

const open = ({ health }: Instance, by = admission) => health.recordFailure(route, by, refused('route: 503'));
const probe = async ({ health }: Instance) => (await health.admit(route)) as Admission;
const becomes = (state: string, ...instances: Instance[]) =>
  vi.waitFor(() => expect(instances.map((instance) => instance.state())).toEqual(instances.map(() => state)), soon);
const isStored = async ({ shared }: Instance) => {
  const entry = () => shared.cache.get(`upstream/routes/${route.id}`);
  await vi.waitFor(async () => expect(await entry()).toBeDefined(), soon);
};

describe.skipIf(redisUrl === undefined)('what one instance finds out about a route', () => {
  it('is known to those that run', async () => {
    const [first, second] = [await start(), await start()];
    open(first);
    await becomes('open', first, second);
  });

  it('is known to one that is started later, with the reason', async () => {
    const first = await start();
    open(first);
    await isStored(first);
    const third = await start();
    await becomes('open', third);
    const [told, known] = [third, first].map(({ health }) => health.getStatuses([route])[0]);
    expect(told).toMatchObject({ route: route.id, reason: 'route: 503' });
    // A little of the pause has gone by in Redis.
    const difference = Date.parse(known?.open_until ?? '') - Date.parse(told?.open_until ?? '');
    expect(difference).toBeGreaterThanOrEqual(0);
    expect(difference).toBeLessThan(5_000);
  });

  it('is known to itself after a restart, with how long the next pause is', async () => {
    {
      await using first = await start();
      open(first);
      now += 5_000;
      open(first, await probe(first));
      await vi.waitFor(async () => {
        const entry = await first.shared.cache.get(`upstream/routes/${route.id}`);
        expect(entry?.value.toString()).toContain('"openings":2');
      }, soon);
    }
    const again = await start();
    await becomes('open', again);
    now += 10_000;
    expect(again.state()).toBe('half_open');
    open(again, await probe(again));
    expect(again.health.msUntilAdmission([route])).toBe(20_000);
  });

  it('is that it does not have the model', async () => {
    const [first, second] = [await start(), await start()];
    first.health.recordMissingModel(route, admission, 'no_model: 404');
    await becomes('no_model', first, second, await start());
    first.health.noteContent(route, admission);
    await becomes('closed', first, second, await start());
  });

  it('reports how fast the route was, so that new instances can tell what is slow', async () => {
    const first = await start();
    const timing = { firstContentMs: 100, durationMs: 1_000, tokens: 100 };
    for (let answer = 0; answer < 20; answer++) first.health.recordSuccess(route, admission, timing);
    const slow = { ...timing, durationMs: 60_000 };
    for (const one of ['a', 'b']) first.health.recordSuccess(route, admission, slow, requesterNamed(one));
    expect(first.state()).toBe('open');
    await isStored(first);
    const second = await start();
    await becomes('open', second);
    now += 5_000;
    second.health.recordSuccess(route, await probe(second), slow, requesterNamed('another'));
    await becomes('open', first, second);
    expect(second.health.msUntilAdmission([route])).toBe(10_000);
  });

  it('is shown by the probe of one of them, and then by that of another', async () => {
    const [first, second] = [await start(), await start()];
    open(first);
    await becomes('open', second);
    now += 5_000;
    const ours = await probe(first);
    expect(await probe(second)).toBeUndefined();
    first.health.release(route, ours);
    await first.shared.ping(); // Sent after the release, on the same connection.
    expect(await probe(second)).toBeUndefined();
    now += 1_000; // It asks the store once in that time.
    expect(await probe(second)).toMatchObject({ isProbe: true });
  });

  it('is not that it counts failures of its own', async () => {
    const [first, second] = [await start(), await start()];
    Object.assign(second.health.options, { failures: 2 });
    open(second);
    first.health.recordMissingModel(route, admission, 'no_model: 404');
    await becomes('no_model', second);
    open(second);
    expect(second.state()).toBe('open');
  });
});

describe.skipIf(redisUrl === undefined)('an instance whose clock is a day from the others', () => {
  const day = 86_400_000;

  it.each([day, -day])('sends the others the same remaining cooldown (%i ms)', async (step) => {
    const [first, second] = [await start(undefined, step), await start()];
    open(first);
    await becomes('open', second, await start(undefined, step));
    const left = second.health.msUntilAdmission([route]);
    // Of five seconds, less the time on the way, which a busy machine may take.
    expect(left).toBeGreaterThan(3_000);
    expect(left).toBeLessThanOrEqual(5_000);
  });

  it.each([day, -day])('reads a stored cooldown with the time left of it (%i ms)', async (step) => {
    const first = await start();
    first.health.recordMissingModel(route, admission, 'no_model: 404');
    await isStored(first);
    const second = await start(undefined, step);
    await becomes('no_model', second);
    now += 60_000;
    expect(second.state()).toBe('half_open');
  });

  it.each([day, -day])('also sends the end time, which earlier versions read (%i ms)', async (step) => {
    const [first, events] = [await start(undefined, step), [] as string[]];
    const unsubscribe = await first.shared.events.subscribe('upstream/breakers', (text) => void events.push(text));
    running.defer(unsubscribe);
    open(first);
    await vi.waitFor(() => expect(events).not.toHaveLength(0), soon);
    const { report } = JSON.parse(events[0] ?? '') as { report: { breaker: object; cooldown: object } };
    expect(report.breaker).toMatchObject({ state: 'open', opensUntil: now + step + 5_000 });
    expect(report.cooldown).toHaveProperty('until');
  });
});

describe.skipIf(redisUrl === undefined)('an earlier version', () => {
  it('tells a pause as a time, which is read by the clock and at most the longest', async () => {
    const first = await start();
    const tell = (opensUntil: number) => {
      const breaker = { state: 'open', opensUntil, reason: 'route: 503', openings: 1 };
      const report = { at: now + 1, breaker, cooldown: { until: 0, times: 0 } };
      return first.shared.events.publish(
        'upstream/breakers',
        JSON.stringify({ instance: 'old', id: route.id, report }),
      );
    };
    await tell(now + 3_000);
    await becomes('open', first);
    expect(first.health.msUntilAdmission([route])).toBe(3_000);
    now += 1;
    await tell(now + 86_400_000);
    await vi.waitFor(() => expect(first.health.msUntilAdmission([route])).toBe(300_000), soon);
  });
});

describe.skipIf(redisUrl === undefined)('a Redis that is away', () => {
  it('gets what has opened meanwhile once it is back, and so do the others', async () => {
    const [first, second] = [await startApart(), await start()];
    first.proxy.turn('cut');
    open(first);
    first.proxy.turn('open');
    await becomes('open', first, second, await start());
  });

  it('sends breakers that opened meanwhile once it is back', async () => {
    const [first, second] = [await start(), await startApart()];
    second.proxy.turn('cut');
    open(first);
    await isStored(first);
    expect(second.state()).toBe('closed');
    second.proxy.turn('open');
    await becomes('open', second);
  });

  it('delivers the stored state once it is there, when it was away at the start', async () => {
    const first = await start();
    open(first);
    await isStored(first);
    const proxy = running.use(await startProxy());
    proxy.turn('cut');
    const late = await start(proxy.url);
    proxy.turn('open');
    await becomes('open', late);
  });

  it('that has lost everything gets it again', async () => {
    const first = await startApart();
    open(first);
    await isStored(first);
    await clearKeys(name);
    first.proxy.turn('cut');
    first.proxy.turn('open');
    await isStored(first);
    await becomes('open', await start());
  });

  it('does not bring back what others have seen mended since', async () => {
    const [first, second] = [await startApart(), await start()];
    open(first);
    await becomes('open', second);
    first.proxy.turn('cut');
    now += 5_000;
    second.health.noteContent(route, await probe(second));
    await becomes('closed', second);
    first.proxy.turn('open');
    await becomes('closed', first, second);
  });

  it('is not awaited by a request to a route with an open breaker', async () => {
    const first = await startApart();
    first.proxy.turn('stall');
    open(first);
    expect(first.health.admit(route)).toBeUndefined();
  });
});

describe.skipIf(redisUrl === undefined)('a route that an operator resets', () => {
  it('is let in by those that are started later', async () => {
    const first = await start();
    open(first);
    await isStored(first);
    first.health.reset(route.id);
    await vi.waitFor(async () => {
      const entry = await first.shared.cache.get(`upstream/routes/${route.id}`);
      expect(entry?.value.toString()).toContain('"state":"closed"');
    }, soon);
    const second = await start();
    await second.shared.ping();
    expect(second.state()).toBe('closed');
  });

  it('serves again even if no instance runs that could be notified', async () => {
    {
      await using first = await start();
      open(first);
      await isStored(first);
      await storeReset(first.shared, route.id, now);
    }
    const second = await start();
    await second.shared.ping();
    expect(second.state()).toBe('closed');
  });
});
