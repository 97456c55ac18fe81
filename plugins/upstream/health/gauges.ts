import type { Gauge } from '#core/gateway/health/gauge.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { keysOf, routeStatus } from '../routes.ts';

const stateNumbers: Readonly<Record<RouteStatus['state'], number>> = { closed: 0, half_open: 1, open: 2, no_model: 3 };

export const routeGauge: Gauge = {
  name: 'route_state',
  description:
    'Breaker of a route: 0 closed, 1 half-open (the next request is the probe), 2 open, 3 model not found on the route (tried last).',
  labels: ['route'],
  read: (host) => routeStatus(host).map(({ route, state }) => ({ value: stateNumbers[state], labels: { route } })),
};

export const coolingKeysGauge: Gauge = {
  name: 'upstream_keys_cooling_down',
  description: 'API keys of an upstream in cooldown: throttled, rejected or out of credit.',
  labels: ['upstream'],
  read: (host) =>
    host.catalog.upstreams
      .filter(({ isEnabled }) => isEnabled)
      .map((upstream) => ({
        value: keysOf(upstream, host).coolingDown(host.monotonic()),
        labels: { upstream: upstream.name },
      })),
};
