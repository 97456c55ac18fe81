import { expect, it, onTestFinished } from 'vitest';
import type { Route } from '#core/config/catalog/catalog.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { createLogger } from '#core/platform/logger.ts';
import { unusedResult } from '#core/platform/shared/slots.ts';
import type { CapacityPool, Place } from '../../../../plugins/upstream/capacity/pool.ts';
import { SlotPools } from '../../../../plugins/upstream/capacity/slot-pools.ts';
import { SlotRequest } from '../../../../plugins/upstream/capacity/slot-request.ts';
import type { RouteAdmission } from '../../../../plugins/upstream/routing/admission.ts';
import type { Allowance } from '../../../../plugins/upstream/routing/allowance.ts';
import { SlotSearch } from '../../../../plugins/upstream/routing/slot-search.ts';
import { createExchange } from '../../../support/exchange.ts';
import { routeTo, upstreamAt } from '../fixture.ts';

const capacity = { concurrent: 1, requests: Infinity, period: 60_000 };
const routeOf = (name: string): Route => routeTo(upstreamAt('http://127.0.0.1:1', { name, capacity }));
const again = { error: { details: { retryAfter: 0.001 } } };

/** A search over upstreams with one slot each. */
function openSearch(names: readonly string[], admission: Partial<Record<keyof RouteAdmission, unknown>>) {
  const options = { wait: 10, per_account: 10, total: 100, prefer_backup: true };
  const log = createLogger(() => undefined);
  const pools = new SlotPools({ log, store: undefined, monotonic: () => performance.now() });
  onTestFinished(() => pools[Symbol.asyncDispose]());
  const left = { routes: names.map(routeOf) };
  const parts = { pools, options, SlotRequest, header: 'x-daypass-queue', now: () => 0 };
  const exchange: Exchange = createExchange();
  const turn = new SlotRequest(parts, exchange, {} as never, 'model');
  const said = {
    findThrottling: () => undefined,
    isBreakerOpen: () => false,
    noteOpenBreaker: () => undefined,
    noteThrottling: () => undefined,
    admit: (route: Route) => ({ route }),
    ...admission,
  };
  const allowance = { hasAttempts: true, stopClock: () => undefined, startClock: () => undefined };
  const search = new SlotSearch(turn, left, said as unknown as RouteAdmission, allowance as unknown as Allowance);
  const poolOf = (name: string) => pools.getOrCreate(routeOf(name).upstream, options) as CapacityPool;
  return {
    search,
    pool: poolOf,
    states: (name: string) => [...poolOf(name).places].map(({ state }) => state),
    /** Takes the slot of an upstream for another request. */
    occupy: (name: string): Promise<Place> =>
      poolOf(name).requestSlot({ account: 'other', weight: 1, mayWait: false }, 'model', () => undefined),
  };
}

it('a request leaves the line of an upstream whose breaker opens while it waits', async () => {
  let looks = 0;
  const { search, pool, states, occupy } = openSearch(['throttled', 'busy'], {
    findThrottling: ({ upstream }: Route) => (upstream.name === 'throttled' && ++looks < 3 ? again : undefined),
    isBreakerOpen({ upstream }: Route) {
      if (upstream.name !== 'busy' || looks < 2) return false;
      // The line goes on before the request waits again.
      void pool('busy').end(holder, unusedResult);
      return true;
    },
  });
  const holder = await occupy('busy');
  const served = await search.takeNext({ canServe: () => true } as never, true);
  expect(served?.route.upstream.name).toBe('throttled');
  expect(states('busy')).toEqual([]);
});

it('a granted slot without a route is freed, and the request keeps its other places', async () => {
  const { search, pool, states, occupy } = openSearch(['gone', 'busy'], {});
  const holders = { gone: await occupy('gone'), busy: await occupy('busy') };
  let isGone = false;
  const canServe = ({ upstream }: Route) => !(isGone && upstream.name === 'gone');
  const waiting = search.takeNext({ canServe } as never, true);
  while (states('busy').length < 2) await new Promise((resolve) => setImmediate(resolve));
  const before = [...pool('busy').places].at(-1);
  isGone = true;
  await pool('gone').end(holders.gone, unusedResult);
  while (states('gone').length > 0) await new Promise((resolve) => setImmediate(resolve));
  expect([...pool('busy').places].at(-1)).toBe(before);
  await pool('busy').end(holders.busy, unusedResult);
  const served = await waiting;
  expect(served?.route.upstream.name).toBe('busy');
  await served?.slot?.release(false);
  expect(states('busy')).toEqual([]);
});

it('a request keeps its places when the route of a granted slot is refused', async () => {
  const { search, pool, states, occupy } = openSearch(['refused', 'busy'], {
    admit: (route: Route) => (route.upstream.name === 'refused' ? undefined : { route }),
  });
  const holders = { refused: await occupy('refused'), busy: await occupy('busy') };
  const waiting = search.takeNext({ canServe: () => true } as never, true);
  while (states('busy').length < 2) await new Promise((resolve) => setImmediate(resolve));
  const before = [...pool('busy').places].at(-1);
  await pool('refused').end(holders.refused, unusedResult);
  while (states('refused').length > 0) await new Promise((resolve) => setImmediate(resolve));
  expect([...pool('busy').places].at(-1)).toBe(before);
  await pool('busy').end(holders.busy, unusedResult);
  expect((await waiting)?.route.upstream.name).toBe('busy');
});
