import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';

/** What is wrong with a model, as its clients feel it. `degraded`: some requests fail or are slow. `down`: most fail. */
export interface Trouble {
  readonly kind: 'degraded' | 'down';
  readonly cause: TroubleCause;
}

/**
 * `routes_out`: no route takes requests. `failing`: too many requests fail. `recovering`: every route was out moments ago, and the
 * next requests show whether it is back. `slow`: the first token takes much longer than usual.
 */
export type TroubleCause = (typeof troubleCauses)[number];

export const troubleCauses = ['routes_out', 'failing', 'recovering', 'slow'] as const;

/** Requests to a model within `trafficWindow`. */
export interface RecentTraffic {
  readonly answered: number;
  /** Failed, or interrupted by the end of the gateway's process. */
  readonly failed: number;
  /** Median ms to the first content of answers that a route gave; undefined without any. */
  readonly firstTokenMs: number | undefined;
  /** Answers that the median is of. */
  readonly timed: number;
}

/** Ms of traffic that show how a model is now. */
export const trafficWindow = 5 * 60_000;

/** Ms after a cooldown for which a route without requests still counts as down. */
const probingTime = 5 * 60_000;

/** From how many requests on, and at which share of failures, clients feel it. */
const limits = {
  down: { requests: 10, failed: 5, share: 0.5 },
  degraded: { requests: 20, failed: 3, share: 0.05 },
  /** While a route is out, its breaker has already seen the failures: fewer of them count. */
  routeOut: { requests: 20, failed: 2, share: 0.01 },
  slow: { answers: 10, factor: 2, leastMs: 500 },
} as const;

/** A route as its breaker leaves it to requests. */
export type RouteAvailability = 'available' | 'probing' | 'out';

/** @param now epoch ms */
export function availabilityOf(status: RouteStatus | undefined, now: number): RouteAvailability {
  if (status === undefined || status.state === 'closed') return 'available';
  if (status.state !== 'half_open') return 'out';
  // Without requests a breaker stays half-open indefinitely, which says nothing about the route.
  const isRecent = status.open_until === null || now - Date.parse(status.open_until) < probingTime;
  return isRecent ? 'probing' : 'available';
}

/** What is wrong with a model now; undefined when clients feel nothing. @param usualFirstTokenMs its median of last week */
export function findTrouble(
  routes: readonly RouteAvailability[],
  traffic: RecentTraffic | undefined,
  usualFirstTokenMs: number | undefined,
): Trouble | undefined {
  const isOut = (route: RouteAvailability) => route === 'out';
  if (routes.length > 0 && routes.every(isOut)) return { kind: 'down', cause: 'routes_out' };
  if (isFailing(traffic, limits.down)) return { kind: 'down', cause: 'failing' };
  if (routes.length > 0 && !routes.includes('available')) return { kind: 'degraded', cause: 'recovering' };
  const least = routes.every((route) => route === 'available') ? limits.degraded : limits.routeOut;
  if (isFailing(traffic, least)) return { kind: 'degraded', cause: 'failing' };
  if (isSlow(traffic, usualFirstTokenMs)) return { kind: 'degraded', cause: 'slow' };
  return undefined;
}

/** The share of requests that were answered, 0 to 1; undefined for too few to tell. */
export function answeredShare(traffic: RecentTraffic | undefined): number | undefined {
  const requests = countOf(traffic);
  return traffic === undefined || requests < limits.down.requests ? undefined : traffic.answered / requests;
}

function isFailing(
  traffic: RecentTraffic | undefined,
  least: { readonly requests: number; readonly failed: number; readonly share: number },
): boolean {
  if (traffic === undefined) return false;
  const requests = countOf(traffic);
  return requests >= least.requests && traffic.failed >= least.failed && traffic.failed / requests >= least.share;
}

function isSlow(traffic: RecentTraffic | undefined, usual: number | undefined): boolean {
  const { answers, factor, leastMs } = limits.slow;
  if (usual === undefined || traffic?.firstTokenMs === undefined || traffic.timed < answers) return false;
  return traffic.firstTokenMs >= usual * factor && traffic.firstTokenMs >= usual + leastMs;
}

function countOf(traffic: RecentTraffic | undefined): number {
  return traffic === undefined ? 0 : traffic.answered + traffic.failed;
}
