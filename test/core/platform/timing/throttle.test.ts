import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { LineThrottle, Throttle } from '#core/platform/timing/throttle.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

it('a throttle passes at once, then once an interval', () => {
  let now = 5;
  const throttle = new Throttle(100, () => now);
  const passes = [0, 1, 98, 1, 99, 1].map((elapsed) => {
    now += elapsed;
    return throttle.tryPass();
  });
  expect(passes).toEqual([true, false, false, true, false, true]);
});

it('a throttle passes at once after a reset', () => {
  const throttle = new Throttle(100, () => 0);
  throttle.tryPass();
  throttle.reset();
  expect(throttle.tryPass()).toBe(true);
});

it('lines of each kind pass once an interval, with the number of those held back', () => {
  const lines = new LineThrottle(100);
  const passes = ['a', 'a', 'b', 'a'].map((kind) => lines.admit(kind));
  vi.advanceTimersByTime(100);
  expect([...passes, lines.admit('a'), lines.admit('b')]).toEqual([
    '',
    undefined,
    '',
    undefined,
    ' (2 more times since the last line)',
    '',
  ]);
});

it('errors of the same work are distinguished by their place, not by their message', () => {
  const lines = new LineThrottle(100);
  expect([fail('1'), fail('2'), new Error('1')].map((error) => lines.admit('a', error))).toEqual(['', undefined, '']);
});

it('kinds of lines are bounded, and all are forgotten over the bound', () => {
  const lines = new LineThrottle(100);
  for (let kind = 0; kind < bounds.lineKinds; kind++) lines.admit(String(kind));
  expect(lines.admit('0')).toBeUndefined();
  lines.admit('one more');
  expect(lines.admit('0')).toBe('');
});

function fail(message: string): Error {
  return new Error(message);
}
