import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import type { RecentRoutes, RouteTraffic } from '../route-traffic.ts';

/** An upstream that rejects one of the API keys in gateway.yaml because it is revoked or out of credit. */
interface RejectedKey {
  readonly upstream: string;
  /** When it last rejected the key, epoch ms. */
  readonly at: number;
  /** The upstream's message; null if it sent none. */
  readonly error: string | null;
}

/**
 * Finds upstreams whose latest failure is a rejected key. The rejection is over once a request has failed for another reason, or once
 * one has been served and none of the keys is cooling down.
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
