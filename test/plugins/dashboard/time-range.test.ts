import { expect, it } from 'vitest';
import { startOfRange, timeRanges } from '../../../plugins/dashboard/time-range.ts';

const now = Date.UTC(2026, 10, 22, 14, 32, 7);

it('the last day begins with an hour, so that 24 counters make it up', () => {
  expect(startOfRange('24h', now)).toBe(Date.UTC(2026, 10, 21, 15));
});

it('the last hour begins an hour ago, not when the clock last struck', () => {
  expect(startOfRange('1h', now)).toBe(now - 3_600_000);
});

it('longer periods begin earlier, and everything has no beginning', () => {
  const starts = timeRanges.map((range) => startOfRange(range, now));
  expect(starts.slice(0, -1)).toEqual(starts.slice(0, -1).toSorted((a, b) => Number(b) - Number(a)));
  expect(starts.at(-1)).toBeUndefined();
});
