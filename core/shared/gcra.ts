import type { Limits, Take } from './shared.ts';

/**
 * GCRA, the generic cell rate algorithm (ITU-T I.371): each request moves a key's "theoretical arrival time" forward by
 * one emission interval; a request conforms while that time is then at most one burst ahead of now. `take.lua` does the
 * same arithmetic.
 *
 * Times are whole µs: fractions of them would add up to a burst that is one request too small. A debt is the time from
 * now to the theoretical arrival time.
 */

/** µs between requests at the full rate. Rounded up: never more than the limit. */
export function intervalOf({ limit, period }: Limits): number {
  return Math.ceil((period * 1_000_000) / limit);
}

/**
 * What a key owes. One burst at most: more is left over from limits that have changed or from a clock that was put
 * back, and must not keep the key waiting for what it does not owe any more.
 *
 * @param arrival theoretical arrival time so far; 0 for a key that has not been seen
 */
export function debtOf(arrival: number, now: number, limits: Limits): number {
  return Math.min(Math.max(0, arrival - now), limits.burst * intervalOf(limits));
}

/** µs until a key with this debt may send a request; 0 or less when it may now. */
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
