import { expect, it } from 'vitest';
import type { AttemptRecord } from '#core/gateway/facts.ts';
import { calculateOverhead } from '../../plugins/metrics/overhead.ts';

const attempt = (startedAt: number, duration: number): AttemptRecord => ({
  route: 'one/m',
  startedAt,
  duration,
  outcome: 'served',
});

it.each([
  ['is all of the time where no route was tried', undefined, [], undefined, 12],
  ['leaves out the time in which the body arrived', 5, [], undefined, 7],
  ['leaves out an attempt', 0, [attempt(2, 8)], 10, 4],
  ['counts a stream as waiting until its first content only', 0, [attempt(2, 500)], 10, 4],
  ['counts overlapping attempts once', 0, [attempt(1, 6), attempt(4, 400)], 10, 3],
  ['keeps the pause between two attempts', 0, [attempt(1, 3), attempt(6, 4)], 10, 5],
  [
    'leaves out attempts that were still running when a first byte kept the connection alive',
    0,
    [attempt(2, 900)],
    800,
    2,
  ],
  ['is never negative', 20, [attempt(0, 12)], 12, 0],
] as const)('the overhead %s', (_, bodyWaited, attempts, firstContentAfter, overhead) => {
  const delivery = { attempts: [...attempts], firstContentAfter };
  expect(calculateOverhead({ firstByteAfter: 12, delivery, bodyWaited, slotWaited: undefined })).toBe(overhead);
});

it('the overhead leaves out the time in which a request on a connection of its own waited for a slot', () => {
  const delivery = { attempts: [attempt(7, 4)], firstContentAfter: 11 };
  expect(calculateOverhead({ firstByteAfter: 12, delivery, bodyWaited: 1, slotWaited: 5 })).toBe(2);
});

it('the overhead of an exchange without a reply is unknown', () => {
  const nothing = { firstByteAfter: undefined, delivery: undefined, bodyWaited: undefined, slotWaited: undefined };
  expect(calculateOverhead(nothing)).toBeUndefined();
});
