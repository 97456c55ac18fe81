import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import type { RecentRoutes, RouteTraffic } from '../route-traffic.ts';

interface RejectedKey {
  readonly upstream: string;
  readonly rejectedAt: number;
  readonly error: string | null;
}

/** A rejection is over once a request has failed for another reason, or once one has been served and none of the keys is cooling down. */
export function findRejectedKeys(
  statuses: ReadonlyMap<string, RouteStatus>,
  { routes }: Pick<RecentRoutes, 'routes'>,
): RejectedKey[] {
  const rejected = [...routes.values()].flatMap((traffic) => readRejectedKey(traffic, statuses.get(traffic.route)));
  const byUpstream = Map.groupBy(
    rejected.toSorted((a, b) => b.rejectedAt - a.rejectedAt),
    ({ upstream }) => upstream,
  );
  return [...byUpstream.values()].flatMap(([latest]) => latest ?? []);
}

function readRejectedKey(
  { route, lastFault, lastServedAt }: RouteTraffic,
  status: RouteStatus | undefined,
): RejectedKey[] {
  if (status === undefined || lastFault?.fault !== 'key') return [];
  const isOver = lastServedAt !== undefined && lastServedAt > lastFault.at && !status.keys_cooling_down;
  return isOver
    ? []
    : [{ upstream: route.slice(0, route.indexOf('/')), rejectedAt: lastFault.at, error: lastFault.error }];
}
