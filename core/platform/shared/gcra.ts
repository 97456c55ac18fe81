import type { Limits, Take } from './shared.ts';

/**
 * GCRA, the generic cell rate algorithm (ITU-T I.371): each request advances a key's "theoretical arrival time" by one emission interval; a
 * request conforms if that time is then at most one burst ahead of now. `take.lua` does the same arithmetic.
 *
 * Times are whole µs: fractions would add up to a burst that is one request too small. A debt is the time from now to the theoretical
 * arrival time.
 */

/** Returns the µs between requests at the full rate. Rounded up, so that the limit is never exceeded. */
export function intervalOf({ limit, period }: Limits): number {
  return Math.ceil((period * 1_000_000) / limit);
}

/**
 * Caps the stored theoretical arrival time at one burst from now; the result is stored even if the request is rejected. A larger value,
 * left after limits changed or the clock was set back, would block the key until it passed.
 *
 * @param arrival as stored; 0 for a new key
 */
export function capArrival(arrival: number, now: number, limits: Limits): number {
  return Math.min(arrival, now + limits.burst * intervalOf(limits));
}

/** Returns the debt of a key in µs. */
export function debtOf(arrival: number, now: number): number {
  return Math.max(0, arrival - now);
}

/** Returns the µs until a key with this debt may send a request; 0 or less if it may now. */
export function waitOf(debt: number, limits: Limits): number {
  return debt + intervalOf(limits) - limits.burst * intervalOf(limits);
}

/** @param wait µs until a request would pass */
export function describe(
  debt: number,
  limits: Limits,
  wait: number,
  refusedBy: Take['refusedBy'],
  lease: Take['lease'],
): Take {
  return {
    refusedBy,
    lease,
    remaining: Math.max(0, Math.floor(limits.burst - debt / intervalOf(limits))),
    retryAfter: wait / 1_000_000,
    resetAfter: debt / 1_000_000,
  };
}
