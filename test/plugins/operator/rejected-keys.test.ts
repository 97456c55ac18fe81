import { expect, it } from 'vitest';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { findRejectedKeys } from '../../../plugins/operator/overview/rejected-keys.ts';
import type { RouteTraffic } from '../../../plugins/operator/route-traffic.ts';

function find(traffic: readonly Partial<RouteTraffic>[], coolingDown: Record<string, number> = {}) {
  const whole = traffic.map((one) => one as RouteTraffic);
  const statuses = whole.map(({ route }): RouteStatus => ({
    route,
    state: 'closed',
    open_until: null,
    reason: null,
    keys_cooling_down: coolingDown[route] ?? 0,
  }));
  return findRejectedKeys(new Map(statuses.map((one) => [one.route, one])), {
    routes: new Map(whole.map((one) => [one.route, one])),
  });
}

const rejected = (at: number) => ({ fault: 'key', at, error: `at ${at}` });

it('the problem of rejected keys names each upstream once, with its latest rejection, the newest first', () => {
  const found = find([
    { route: 'openai/a', lastFault: rejected(10) },
    { route: 'openai/b/c', lastFault: rejected(30) },
    { route: 'other/a', lastFault: rejected(40) },
    { route: 'fine/a', lastFault: { fault: 'route', at: 50, error: null } },
    { route: 'unused/a', lastFault: undefined },
  ]);
  expect(found).toEqual([
    { upstream: 'other', rejectedAt: 40, error: 'at 40' },
    { upstream: 'openai', rejectedAt: 30, error: 'at 30' },
  ]);
});

it('the problem of rejected keys is over once the route has served again', () => {
  const [before, after] = [9, 11].map((lastServedAt) =>
    find([{ route: 'a/x', lastFault: rejected(10), lastServedAt }]),
  );
  expect([before?.length, after?.length]).toEqual([1, 0]);
});

it('the problem of rejected keys stays while one of several keys is cooling down, though another serves', () => {
  const traffic = [{ route: 'a/x', lastFault: rejected(10), lastServedAt: 11 }];
  expect(find(traffic, { 'a/x': 1 })).toHaveLength(1);
});

it('the problem of rejected keys does not list routes that gateway.yaml no longer has', () => {
  const routes = new Map([['a/x', { route: 'a/x', lastFault: rejected(10) } as RouteTraffic]]);
  expect(findRejectedKeys(new Map(), { routes })).toEqual([]);
});
