import fc from 'fast-check';
import { expect, it } from 'vitest';
import { computeCreditedMs, type CreditSpan } from '../../../plugins/outages/credited-time.ts';

const minute = 60_000;
const day = 1_440 * minute;
const always: CreditSpan[] = [[0, 10 * day]];

it('credit gives each moment once, however many models were down in it', () => {
  const outages: CreditSpan[] = [
    [0, 10 * minute],
    [5 * minute, 20 * minute],
    [30 * minute, 31 * minute],
  ];
  expect(computeCreditedMs(outages, always, day, 'UTC')).toBe(21 * minute);
});

it('credit gives back only paid time, and at most so much of a day of the time zone', () => {
  expect(computeCreditedMs([[0, 60 * minute]], [[50 * minute, day]], day, 'UTC')).toBe(10 * minute);
  // 17:00 UTC is midnight in Jakarta.
  const around: CreditSpan = [16 * 60 * minute, 18 * 60 * minute];
  expect(computeCreditedMs([around], always, 30 * minute, 'UTC')).toBe(30 * minute);
  expect(computeCreditedMs([around], always, 30 * minute, 'Asia/Jakarta')).toBe(60 * minute);
});

it('never shrinks by a further outage, never exceeds what it adds, and does not depend on the order', () => {
  const span = fc
    .tuple(fc.nat(3 * 1_440), fc.integer({ min: 1, max: 600 }))
    .map(([from, length]): CreditSpan => [from * minute, (from + length) * minute]);
  fc.assert(
    fc.property(fc.array(span, { maxLength: 6 }), span, fc.array(span, { maxLength: 3 }), (outages, next, paid) => {
      const of = (spans: readonly CreditSpan[]) => computeCreditedMs(spans, paid, 120 * minute, 'Asia/Jakarta');
      const added = of([...outages, next]) - of(outages);
      expect(added).toBeGreaterThanOrEqual(0);
      expect(added).toBeLessThanOrEqual(next[1] - next[0]);
      expect(of([next, ...outages.toReversed()])).toBe(of([...outages, next]));
    }),
  );
});
