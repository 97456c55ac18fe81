import type { StatusReports } from '#core/gateway/health/status-report.ts';
import { readRouteStatus, type RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { defineView } from '#core/web/resources/field.ts';
import { defineResource } from '#core/web/resources/resource.ts';

/** Routes as this process sees them; `daypass routes` asks the running gateway. */
export const routesResource = (gateway: StatusReports) =>
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
      why: { type: 'text', heading: '', value: describeWhy },
    }),
    none: 'No routes.',
    list: (host) => Promise.resolve({ entries: [...readRouteStatus(gateway, host).values()].map(writeStatus) }),
    // JSON output is a plain list until 0.7.
    write: ({ entries }) => entries,
  });

export type ListedRoute = ReturnType<typeof writeStatus>;

/** Includes every member, null if it has no value. */
export function writeStatus({ route, state, ...status }: RouteStatus) {
  return { route, state, open_since: null, keys_cooling_down: 0, keys_closed: 0, ...status };
}

function describeWhy({
  state,
  open_until: until,
  reason,
  keys_cooling_down: cooling,
  keys_closed: closed,
}: ListedRoute): string {
  const why = state === 'closed' ? [] : [`until ${until}: ${reason}`];
  if (closed > 0) why.push(`${closed} ${closed === 1 ? 'key' : 'keys'} closed by the vendor`);
  const others = cooling - closed;
  if (others > 0) why.push(`${others} ${others === 1 ? 'key' : 'keys'} cooling down`);
  return why.join('; ');
}
