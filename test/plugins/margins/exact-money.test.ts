import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDecimal } from '#core/config/catalog/cost.ts';
import {
  fromSmallestUnit,
  allocate,
  prorate,
  formatDecimal,
  toSmallestUnit,
} from '../../../plugins/margins/exact-money.ts';

describe('a price of gateway.yaml', () => {
  it.each([
    [0.075, 75_000n],
    [1e-6, 1n],
    [15, 15_000_000n],
    [999_999_999.999999, 999_999_999_999_999n],
    [1e-7, undefined],
    [0.1234567, undefined],
  ])('%d is exact or refused', (written, expected) => {
    expect(parseDecimal(written, 6)).toBe(expected);
  });
});

describe('exact money', () => {
  it('is a decimal number without an end cut off', () => {
    expect(formatDecimal(-75_000n * 10n ** 16n)).toBe('-0.000000075');
    expect(formatDecimal(fromSmallestUnit(1_999, 'USD'))).toBe('19.99');
    expect(formatDecimal(0n)).toBe('0');
  });

  it('is rounded to what is paid, halves away from zero', () => {
    const half = fromSmallestUnit(5, 'USD') / 10n;
    expect([toSmallestUnit(half, 'USD'), toSmallestUnit(-half, 'USD'), toSmallestUnit(half - 1n, 'USD')]).toEqual([
      1, -1, 0,
    ]);
    expect(toSmallestUnit(fromSmallestUnit(95_000, 'IDR'), 'IDR')).toBe(95_000);
  });

  it('is shared without a rest', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 30n), fc.array(fc.nat(1_000_000), { minLength: 1 }), (whole, weights) => {
        const parts = allocate(whole, weights);
        expect(parts === undefined).toBe(weights.every((weight) => weight === 0));
        if (parts === undefined) return;
        expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(whole);
        for (const [index, weight] of weights.entries()) if (weight === 0) expect(parts[index]).toBe(0n);
      }),
    );
  });

  it('is spread over time so that adjacent spans add up to that of both', () => {
    const time = fc.integer({ min: 0, max: 5_000 });
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 30n), time, time, fc.array(time), (whole, one, other, cuts) => {
        const over = { from: Math.min(one, other), until: Math.max(one, other) };
        const ends = [0, ...cuts.toSorted((a, b) => a - b), 5_001];
        const parts = ends.slice(1).map((until, index) => prorate(whole, over, { from: ends[index] ?? 0, until }));
        expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(whole);
      }),
    );
  });
});
