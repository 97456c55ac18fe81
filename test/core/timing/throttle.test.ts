import { expect, it } from 'vitest';
import { Throttle } from '#core/timing/throttle.ts';

it('a throttle passes at once, then once an interval', () => {
  let now = 5;
  const throttle = new Throttle(100, () => now);
  const passes = [0, 1, 98, 1, 99, 1].map((elapsed) => {
    now += elapsed;
    return throttle.pass();
  });
  expect(passes).toEqual([true, false, false, true, false, true]);
});

it('a throttle passes at once after a reset', () => {
  const throttle = new Throttle(100, () => 0);
  throttle.pass();
  throttle.reset();
  expect(throttle.pass()).toBe(true);
});
