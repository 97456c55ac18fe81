import { describe, expect, it } from 'vitest';
import { computeNextDelay } from '#core/business/payments/check-schedule.ts';

const middle = () => 0.5;

/** Seconds after the charge of all checks of an order that is never paid. */
function plan(left: number, random: () => number = middle): number[] {
  const times: number[] = [];
  for (let age = 20; times.length < 200;) {
    times.push(age);
    const delay = computeNextDelay({ ageSeconds: age, remainingSeconds: left - age }, random);
    if (delay === undefined) return times;
    age += delay;
  }
  throw new Error('the checks never end');
}

describe('the checks of a charge', () => {
  it('are close at first, then once a minute until the order expires', () => {
    expect(plan(300).slice(0, 8)).toEqual([20, 40, 60, 120, 180, 240, 301, 360]);
  });

  it('continue after the expiry, and end a day later', () => {
    expect(plan(300).slice(-6)).toEqual([360, 600, 1_200, 3_900, 21_900, 86_700]);
  });

  it.each([0, 0.999])('are never more than 69 seconds apart before the expiry, with luck %d', (luck) => {
    const times = plan(1_800, () => luck).filter((time) => time < 1_860);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(78);
  });

  it.each([0, 0.999])('include one just after the expiry, with luck %d', (luck) => {
    expect(plan(1_800, () => luck)).toContainEqual(1_801);
  });

  it.each([0, 0.25, 0.75, 0.999])('are seven after the expiry, with luck %d', (luck) => {
    expect(plan(1_800, () => luck).filter((time) => time > 1_800)).toHaveLength(7);
  });

  it.each([
    [47, 300],
    [251, 900],
  ])('are not repeated for one that comes %i seconds after the expiry, a little early', (since, next) => {
    expect(computeNextDelay({ ageSeconds: 1_800 + since, remainingSeconds: -since }, middle)).toBe(next - since);
  });

  it.each([0, 0.25, 0.75, 0.999])('end, with luck %d', (luck) => {
    expect(plan(1_800, () => luck).at(-1)).toBeLessThan(110_000);
  });
});
