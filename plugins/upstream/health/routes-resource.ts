import type { StatusReports } from '#core/gateway/health/status-report.ts';
import { readRouteStatus, type RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { defineView } from '#core/web/resources/field.ts';
import { defineResource } from '#core/web/resources/resource.ts';

/** Defines the list of routes as this process sees them; `daypass routes` asks the running gateway. */
export const routesResource = (reports: StatusReports) =>
  defineResource({
    name: 'route',
    summary: 'list routes with their breakers and the cooldowns of their keys, in the order of gateway.yaml',
    perPage: Infinity,
    view: defineView<ListedRoute>()({
      route: { type: 'id', of: 'route' },
      breaker: {
        type: 'state',
        kinds: { closed: 'ok', open: 'bad', half_open: 'waiting', no_model: 'waiting' },
        of: 'state',
      },
      why: { type: 'text', heading: '', value: describeReasons },
    }),
    none: 'No routes.',
    list: (host) => Promise.resolve({ entries: [...readRouteStatus(reports, host).values()].map(describeRoute) }),
    // The JSON output stays a plain list until 0.7.
    write: ({ entries }) => entries,
  });

export type ListedRoute = ReturnType<typeof describeRoute>;

/** Properties without a value are null. */
export function describeRoute({ route, state, ...status }: RouteStatus) {
  return { route, state, open_since: null, keys_cooling_down: 0, keys_closed: 0, ...status };
}

function describeReasons({
  state,
  open_until: until,
  reason,
  keys_cooling_down: coolingKeys,
  keys_closed: closedKeys,
}: ListedRoute): string {
  const reasons = state === 'closed' ? [] : [`until ${until}: ${reason}`];
  if (closedKeys > 0) reasons.push(`${closedKeys} ${closedKeys === 1 ? 'key' : 'keys'} closed by the vendor`);
  const otherKeys = coolingKeys - closedKeys;
  if (otherKeys > 0) reasons.push(`${otherKeys} ${otherKeys === 1 ? 'key' : 'keys'} cooling down`);
  return reasons.join('; ');
}
