import { startOfHours, usageHour } from '#core/gateway/records/usage.ts';

/** Periods that readers choose from, in hours; `all` is everything on record. */
const hoursOf = { '1h': 1, '24h': 24, '7d': 7 * 24, '30d': 30 * 24, all: undefined } as const;

/** The name of a period, as it stands in addresses. */
export type RangeName = keyof typeof hoursOf;

export const timeRanges = Object.keys(hoursOf) as readonly RangeName[];

/**
 * When a period begins, epoch ms; undefined for `all`. Apart from the last hour, periods begin with an hour in UTC and count
 * the current one: "24 hours" are 24 bars of a chart, and the number of requests is the sum of their counters.
 */
export function startOfRange(range: RangeName, now: number): number | undefined {
  const hours = hoursOf[range];
  if (hours === undefined) return undefined;
  if (hours === 1) return now - usageHour;
  return startOfHours(now, hours);
}
