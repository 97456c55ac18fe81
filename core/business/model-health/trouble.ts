import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';

/** A model's trouble as its clients notice it. `degraded`: some requests fail or are slow. `down`: most fail. */
export interface Trouble {
  readonly kind: 'degraded' | 'down';
  readonly cause: TroubleCause;
}

/**
 * `routes_out`: no route accepts requests, or none has responded since its breaker opened. `failing`: too many requests fail.
 * `last_failed`: there are too few requests to tell, but the last ones failed. `recovering`: most requests failed, but the last ones
 * succeeded. `slow`: the first token takes much longer than usual.
 */
export const troubleCauses = ['routes_out', 'failing', 'recovering', 'slow', 'last_failed'] as const;

type TroubleCause = (typeof troubleCauses)[number];

/** Requests to a model within `trafficWindowMs`. Times are epoch ms: of the first content, or of the failure. */
export interface RecentTraffic {
  readonly answered: number;
  readonly failed: number; // includes those interrupted because the gateway's process ended
  /** Median ms to the first content in responses from routes; undefined if there were none. */
  readonly firstTokenMs: number | undefined;
  readonly timed: number; // number of responses in the median
  readonly failedAccounts: number;
  readonly failedInRow: number; // number of failures since a route last responded
  /** Number of responses from routes since the last failure. Responses from the cache do not count. */
  readonly servedInRow: number;
  readonly lastFailedAt: number | undefined;
  readonly lastServedAt: number | undefined;
}

export const noTraffic: RecentTraffic = {
  answered: 0,
  failed: 0,
  firstTokenMs: undefined,
  timed: 0,
  failedAccounts: 0,
  failedInRow: 0,
  servedInRow: 0,
  lastFailedAt: undefined,
  lastServedAt: undefined,
};

/** Traffic older than this says nothing about a model's current state. */
export const trafficWindowMs = 5 * 60_000;

const quietAfterMs = 15 * 60_000; // if no request follows the last failure for this long, the state is unknown

const limits = {
  down: { requests: 10, failed: 5, share: 0.5 },
  downOfFew: { inRow: 3, accounts: 2 }, // consecutive failures from several accounts
  degraded: { failed: 3, share: 0.05 },
  routeOut: { failed: 2, share: 0.01 }, // fewer, because the route's breaker has already seen some
  few: { requests: 20, inRow: 2 }, // with fewer requests, consecutive failures count, no matter how small their share
  recovering: 0.1, // consecutive successes, as a share of the failures
  slow: { minResponses: 10, factor: 2, minExcessMs: 500 },
} as const;

/** Whether a route is available according to its breaker. `unproven`: its cooldown is over, but it has not responded since. */
export type RouteAvailability = 'available' | 'unproven' | 'out';

export function availabilityOf(status: RouteStatus | undefined): RouteAvailability {
  if (status === undefined || status.state === 'closed') return 'available';
  return status.state === 'half_open' ? 'unproven' : 'out';
}

/** A model's failures as remembered by its incident. Used once its traffic no longer shows them. */
export interface RememberedFailure extends Trouble {
  readonly failedAt: number; // when a request last failed, in epoch ms
  /** When a route is last known to have responded since the trouble began, in epoch ms. */
  readonly servedAt?: number | undefined;
  /** Time by which a probe had failed on every route since the trouble began, in epoch ms. */
  readonly confirmedAt?: number | undefined;
}

export interface Assessment {
  readonly trouble: Trouble | undefined;
  readonly isRemembered: boolean; // only the past shows the trouble: the model has not responded since
  readonly isQuiet: boolean; // the model has had no request for so long that its trouble may be over
  readonly failedAt: number | undefined; // when a request is last known to have failed, in epoch ms
  readonly servedAt: number | undefined; // when a route is last known to have responded, in epoch ms
}

/**
 * Assesses a model from its routes, its recent traffic and its remembered failures. Only a response ends trouble, never the passing of
 * time. Both failures and responses are remembered, because either may have left the traffic window before the next assessment.
 *
 * @param now epoch ms
 */
export function assess(
  routes: readonly RouteAvailability[],
  traffic: RecentTraffic | undefined,
  usualFirstTokenMs: number | undefined,
  remembered: RememberedFailure | undefined,
  now: number,
): Assessment {
  const observed = findTrouble(routes, traffic, usualFirstTokenMs);
  const failedAt = findLatest(traffic?.lastFailedAt, remembered?.failedAt);
  const servedAt = findLatest(traffic?.lastServedAt, remembered?.servedAt);
  const hasResponded = (servedAt ?? 0) > (remembered?.failedAt ?? 0);
  const isMilder = observed === undefined || (observed.kind === 'degraded' && remembered?.kind === 'down');
  const isRemembered = isMilder && remembered !== undefined && !hasResponded;
  const visibleTrouble = isRemembered ? { kind: remembered.kind, cause: remembered.cause } : observed;
  const trouble =
    visibleTrouble && isConfirmed(visibleTrouble, servedAt, remembered, now) ? failingTrouble : visibleTrouble;
  const mayHaveRequests = traffic === undefined || countRequests(traffic) > 0;
  const wouldBeTried = routes.some((route) => route !== 'out');
  const isOld = failedAt !== undefined && now - failedAt >= quietAfterMs;
  const isQuiet = trouble !== undefined && !mayHaveRequests && wouldBeTried && isOld;
  return { trouble, isRemembered, isQuiet, failedAt, servedAt };
}

const failingTrouble: Trouble = { kind: 'down', cause: 'failing' };

/** True if a recent probe of every route confirmed failures that alone were too few to be conclusive. */
function isConfirmed(
  { kind, cause }: Trouble,
  servedAt: number | undefined,
  remembered: RememberedFailure | undefined,
  now: number,
): boolean {
  const confirmedAt = remembered?.confirmedAt ?? -Infinity;
  if (kind === 'down' || (cause !== 'failing' && cause !== 'last_failed')) return false;
  // The clock may have been set back since the probe, hence `abs`. No response can have followed such a probe.
  return Math.abs(now - confirmedAt) < trafficWindowMs && (servedAt ?? 0) < confirmedAt;
}

/** Returns the trouble visible from routes and traffic alone; undefined if clients notice nothing. */
export function findTrouble(
  routes: readonly RouteAvailability[],
  traffic: RecentTraffic | undefined,
  usualFirstTokenMs: number | undefined,
): Trouble | undefined {
  if (routes.length > 0 && !routes.includes('available')) return { kind: 'down', cause: 'routes_out' };
  const hasRouteOut = routes.some((route) => route !== 'available');
  const failure = traffic && findFailing(traffic, hasRouteOut ? limits.routeOut : limits.degraded);
  if (failure !== undefined) return failure;
  return isSlow(traffic, usualFirstTokenMs) ? { kind: 'degraded', cause: 'slow' } : undefined;
}

/** Returns the share of requests that were answered, 0 to 1; undefined if there were too few to tell. */
export function computeAnsweredShare(traffic: RecentTraffic | undefined): number | undefined {
  const requests = countRequests(traffic);
  return traffic === undefined || requests < limits.down.requests ? undefined : traffic.answered / requests;
}

function findFailing(
  traffic: RecentTraffic,
  minimum: { readonly failed: number; readonly share: number },
): Trouble | undefined {
  const { failed, failedInRow, servedInRow, lastServedAt } = traffic;
  if (failed === 0) return undefined;
  const requests = countRequests(traffic);
  const share = failed / requests;
  if (share >= limits.down.share && failed >= limits.degraded.failed) {
    if (servedInRow > 0 && servedInRow >= failed * limits.recovering) return { kind: 'degraded', cause: 'recovering' };
    if (isDown(traffic)) return failingTrouble;
  }
  const isFew = requests < limits.few.requests;
  if (isFew && lastServedAt === undefined) return { kind: 'degraded', cause: 'last_failed' };
  if (failed >= minimum.failed && share >= minimum.share) return { kind: 'degraded', cause: 'failing' };
  return isFew && failedInRow >= limits.few.inRow ? { kind: 'degraded', cause: 'last_failed' } : undefined;
}

function isDown(traffic: RecentTraffic): boolean {
  const { down, downOfFew } = limits;
  if (countRequests(traffic) >= down.requests && traffic.failed >= down.failed) return true;
  return traffic.failedInRow >= downOfFew.inRow && traffic.failedAccounts >= downOfFew.accounts;
}

function isSlow(traffic: RecentTraffic | undefined, usualMs: number | undefined): boolean {
  const { minResponses, factor, minExcessMs } = limits.slow;
  if (usualMs === undefined || traffic?.firstTokenMs === undefined || traffic.timed < minResponses) return false;
  return traffic.firstTokenMs >= usualMs * factor && traffic.firstTokenMs >= usualMs + minExcessMs;
}

function countRequests(traffic: RecentTraffic | undefined): number {
  return traffic === undefined ? 0 : traffic.answered + traffic.failed;
}

export function findLatest(first: number | undefined, other: number | undefined): number | undefined {
  return first === undefined || other === undefined ? (first ?? other) : Math.max(first, other);
}
