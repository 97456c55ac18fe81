import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import type { RecentRoutes, RouteTraffic } from '../route-traffic.ts';

/** An upstream that rejects an API key of gateway.yaml: revoked, or without credit. */
interface RejectedKey {
  readonly upstream: string;
  /** Time of the latest rejection, epoch ms. */
  readonly at: number;
  /** Message of the upstream; null if it sent none. */
  readonly error: string | null;
}

/**
 * Finds upstreams whose latest failure is a rejected key. A rejection is over once the upstream has served a request, unless one of its
 * keys is still in cooldown, or once a request has failed for a different reason.
 */
export function findRejectedKeys(
  statuses: ReadonlyMap<string, RouteStatus>,
  { routes }: Pick<RecentRoutes, 'routes'>,
): RejectedKey[] {
  const rejected = [...routes.values()].flatMap((traffic) => readRejectedKey(traffic, statuses.get(traffic.route)));
  const byUpstream = Map.groupBy(
    rejected.toSorted((a, b) => b.at - a.at),
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
  return isOver ? [] : [{ upstream: route.slice(0, route.indexOf('/')), at: lastFault.at, error: lastFault.error }];
}
