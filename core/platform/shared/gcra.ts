import type { Limits, Take } from './shared.ts';

/*
 * GCRA, the generic cell rate algorithm (ITU-T I.371). Each request advances a key's "theoretical arrival time" by one emission interval. A
 * request conforms if that time is then at most one burst ahead of now. `take.lua` computes the same.
 *
 * Times are whole µs, because fractions would add up to a burst that is one request too small. A debt is the time from now to the
 * theoretical arrival time.
 */

/** Time between requests at the full rate, rounded up so that the limit is never exceeded. */
export function computeIntervalUs({ limit, period }: Limits): number {
  return Math.ceil((period * 1_000_000) / limit);
}

/**
 * Caps the theoretical arrival time at one burst from now. Callers store the result even if they reject the request. A larger value, which
 * remains if limits change or the clock is set back, would block the key until that time.
 *
 * @param arrival stored theoretical arrival time; 0 for a new key
 */
export function capArrival(arrival: number, now: number, limits: Limits): number {
  return Math.min(arrival, now + limits.burst * computeIntervalUs(limits));
}

export function computeDebtUs(arrival: number, now: number): number {
  return Math.max(0, arrival - now);
}

/** Time until a key with this debt may send a request; 0 or less if it may send now. */
export function computeWaitUs(debt: number, limits: Limits): number {
  return debt + computeIntervalUs(limits) - limits.burst * computeIntervalUs(limits);
}

export function createTake(
  debt: number,
  limits: Limits,
  waitUs: number,
  refusedBy: Take['refusedBy'],
  lease: Take['lease'],
): Take {
  return {
    refusedBy,
    lease,
    remaining: Math.max(0, Math.floor(limits.burst - debt / computeIntervalUs(limits))),
    retryAfter: waitUs / 1_000_000,
    resetAfter: debt / 1_000_000,
  };
}
