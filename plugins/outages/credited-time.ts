import { formatLocalTime } from '#core/platform/timing/time-zone.ts';

/** Start (inclusive) and end (exclusive), epoch ms. */
export type CreditSpan = readonly [from: number, until: number];

const sliceMs = 15 * 60_000; // aligned slices never cross midnight: all current UTC offsets are multiples of this

/**
 * Computes the total ms credited to an account for outages. A moment counts once even if several models were down, only if the account had
 * paid time, and only up to the daily limit. The order of outages does not matter, so the credit for one more
 * outage is the result with it minus the result without it.
 */
export function computeCreditedMs(
  outages: readonly CreditSpan[],
  paidPeriods: readonly CreditSpan[],
  maxMsPerDay: number,
  timeZone: string,
): number {
  const byDay = new Map<string, number>();
  for (const [from, until] of intersect(mergeOverlapping(outages), mergeOverlapping(paidPeriods)))
    for (let time = from; time < until;) {
      const next = Math.min(until, (Math.floor(time / sliceMs) + 1) * sliceMs);
      const { day } = formatLocalTime(new Date(time), timeZone);
      byDay.set(day, (byDay.get(day) ?? 0) + next - time);
      time = next;
    }
  return [...byDay.values()].reduce((sum, ms) => sum + Math.min(ms, maxMsPerDay), 0);
}

function mergeOverlapping(spans: readonly CreditSpan[]): CreditSpan[] {
  const merged: [number, number][] = [];
  for (const [from, until] of spans.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], until);
    else merged.push([from, until]);
  }
  return merged;
}

function intersect(left: readonly CreditSpan[], right: readonly CreditSpan[]): CreditSpan[] {
  return left.flatMap(([from, until]) =>
    right.flatMap(([start, end]): CreditSpan[] => {
      const overlap = [Math.max(from, start), Math.min(until, end)] as const;
      return overlap[0] < overlap[1] ? [overlap] : [];
    }),
  );
}
