import { expect, it } from 'vitest';
import { day, forecast } from '../../../plugins/balances/forecast.ts';

const start = 1_000 * day;
const series = (...amounts: number[]) => amounts.map((amount, index) => ({ at: start + index * day, amount }));

it('a balance lasts as long as its use of the last week says', () => {
  expect(forecast(series(100, 90, 80, 70, 60, 50, 40, 30))).toEqual({ perDay: 10, days: 3 });
});

it('what was paid in between does not hide the use', () => {
  expect(forecast(series(20, 10, 110, 100, 90))).toEqual({ perDay: 7.5, days: 12 });
});

it('use from before the last week does not count', () => {
  const heavy = series(10_000, 5_000, 100, 99, 98, 97, 96, 95, 94, 93);
  expect(forecast(heavy)?.perDay).toBe(1);
});

it('a balance that is not used lasts for ever, and an empty one no longer', () => {
  expect(forecast(series(50, 50, 50))).toEqual({ perDay: 0, days: undefined });
  expect(forecast(series(10, 0))?.days).toBe(0);
  expect(forecast(series(10, -5))?.days).toBe(0);
});

it('nothing is said of readings of less than three hours', () => {
  expect(forecast([])).toBeUndefined();
  expect(forecast(series(10))).toBeUndefined();
  expect(
    forecast([
      { at: start, amount: 10 },
      { at: start + day / 9, amount: 5 },
    ]),
  ).toBeUndefined();
});
