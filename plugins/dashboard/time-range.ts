import { startOfHours, hourMs } from '#core/gateway/records/usage.ts';

/** Periods to choose from, in hours; `all` includes all records. */
const rangeHours = { '1h': 1, '24h': 24, '7d': 7 * 24, '30d': 30 * 24, all: undefined } as const;

/** Name of a period in URLs. */
export type RangeName = keyof typeof rangeHours;

/** Names of all periods, shortest first. */
export const timeRanges = Object.keys(rangeHours) as readonly RangeName[];

/**
 * Returns the start of a period, epoch ms; undefined for `all`. Except for `1h`, periods start on the hour in UTC and include the current
 * hour, so "24 hours" are 24 bars of a chart, and the number of requests is the sum of their counters.
 */
export function startOfRange(range: RangeName, now: number): number | undefined {
  const hours = rangeHours[range];
  if (hours === undefined) return undefined;
  if (hours === 1) return now - hourMs;
  return startOfHours(now, hours);
}
