import { startOfHours, hourMs } from '#core/gateway/records/usage.ts';

/** Periods to choose from, in hours; `all` means everything on record. */
const hoursOf = { '1h': 1, '24h': 24, '7d': 7 * 24, '30d': 30 * 24, all: undefined } as const;

/** Name of a period in addresses. */
export type RangeName = keyof typeof hoursOf;

export const timeRanges = Object.keys(hoursOf) as readonly RangeName[];

/**
 * Returns the start of a period, epoch ms; undefined for `all`. All periods but `1h` begin on the hour in UTC and include the current hour:
 * "24 hours" are 24 bars of a chart, and the number of requests is the sum of their counters.
 */
export function startOfRange(range: RangeName, now: number): number | undefined {
  const hours = hoursOf[range];
  if (hours === undefined) return undefined;
  if (hours === 1) return now - hourMs;
  return startOfHours(now, hours);
}
