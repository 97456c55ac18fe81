import { startOfHours, hourMs } from '#core/gateway/records/usage.ts';

const rangeHours = { '1h': 1, '24h': 24, '7d': 7 * 24, '30d': 30 * 24, all: undefined } as const; // undefined includes all records

export type RangeName = keyof typeof rangeHours;

export const timeRanges = Object.keys(rangeHours) as readonly RangeName[]; // shortest first

/**
 * Returns the start of a period in epoch ms; undefined for `all`. Except `1h`, periods start on the hour in UTC and include the current
 * hour, so that "24 hours" are 24 bars of a chart whose counts add up to the number of requests.
 */
export function startOfRange(range: RangeName, now: number): number | undefined {
  const hours = rangeHours[range];
  if (hours === undefined) return undefined;
  if (hours === 1) return now - hourMs;
  return startOfHours(now, hours);
}
