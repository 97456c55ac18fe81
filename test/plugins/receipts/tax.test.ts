import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskNpwp, parseCompany, normalizeNpwp } from '../../../plugins/receipts/company.ts';
import { findTax } from '../../../plugins/receipts/section.ts';
import { computeTaxBase, computeIncludedTax } from '../../../plugins/receipts/tax.ts';

const ppn = { rate: 12, base: '11/12', rounding: 'nearest' } as const;

describe('the tax within a price', () => {
  it('is that of PMK 131/2024 for Rp 289.000', () => {
    expect(computeIncludedTax(289_000, ppn)).toBe(28_640);
    expect(289_000 - computeIncludedTax(289_000, ppn)).toBe(260_360);
  });

  it('is the rate of its base, which is said where that is a part of the price without tax', () => {
    expect(18_000 - computeIncludedTax(18_000, ppn)).toBe(16_216);
    expect(computeTaxBase(18_000, ppn)).toBe(14_865);
    expect(Math.round(14_865 * 0.12)).toBe(computeIncludedTax(18_000, ppn));
    expect(computeTaxBase(18_000, { ...ppn, rate: 11, base: '1' })).toBeUndefined();
  });

  it('is the same for 12 % of 11/12 as for 11 %, and takes rates with decimals', () => {
    expect(computeIncludedTax(289_000, { ...ppn, rate: 11, base: '1' })).toBe(28_640);
    expect(computeIncludedTax(10_750, { rate: 7.5, base: '1', rounding: 'nearest' })).toBe(750);
    expect(computeIncludedTax(10_000_000_000, { rate: 1e-7, base: '1', rounding: 'nearest' })).toBe(10);
    expect(computeIncludedTax(1_000, { rate: 0, base: '1', rounding: 'up' })).toBe(0);
  });

  it('is rounded as the seller says', () => {
    expect(computeIncludedTax(289_001, { ...ppn, rounding: 'down' })).toBe(28_639);
    expect(computeIncludedTax(289_001, { ...ppn, rounding: 'up' })).toBe(28_640);
  });

  it('grows with the price, never above it, so that refunds in parts leave no tax', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom('nearest', 'down', 'up'),
        (amount, share, rounding) => {
          const part = Math.floor(amount * share);
          const [whole, first] = [
            computeIncludedTax(amount, { ...ppn, rounding }),
            computeIncludedTax(part, { ...ppn, rounding }),
          ];
          expect(first).toBeLessThanOrEqual(whole);
          expect(whole).toBeLessThan(amount + 1);
        },
      ),
    );
  });
});

describe('the tax of a day', () => {
  const taxes = [
    { ...ppn, name: 'PPN', included: true, rate: 11, base: '1', from: '2022-04-01' },
    { ...ppn, name: 'PPN', included: true, from: '2025-01-01' },
  ];

  it('is the one that began last, and none before the first', () => {
    expect(findTax({ tax: taxes }, '2024-12-31')).toMatchObject({ rate: 11, base: '1' });
    expect(findTax({ tax: taxes.toReversed() }, '2025-01-01')).toMatchObject({ rate: 12, base: '11/12' });
    expect(findTax({ tax: taxes }, '2022-03-31')).toBeUndefined();
  });

  it('is none for a seller without tax', () => {
    expect(findTax({ tax: 'none' }, '2026-11-29')).toBeUndefined();
    expect(findTax({}, '2026-11-29')).toBeUndefined();
  });
});

describe('a company', () => {
  it('has an NPWP of 16 or 22 digits; an old one of 15 gets a zero in front', () => {
    expect(normalizeNpwp('01.234.567.8-901.000')).toBe('0012345678901000');
    expect(normalizeNpwp('0012 3456 7890 1000')).toBe('0012345678901000');
    expect(normalizeNpwp('0012345678901000123456')).toBe('0012345678901000123456');
    for (const wrong of ['', '1234', '00123456789010001', 'NPWP 0012345678901000', '００12345678901000'])
      expect(normalizeNpwp(wrong)).toBeUndefined();
    expect(maskNpwp('0012345678901000')).toBe('••••••••••••1000');
  });

  it('is read from what buyers type', () => {
    expect(parseCompany({ company: ' ', npwp: '' })).toBeUndefined();
    expect(parseCompany({ company: 'PT Maju\nJaya', npwp: '01.234.567.8-901.000' })).toEqual({
      name: 'PT Maju Jaya',
      npwp: '0012345678901000',
    });
    const longest = `PT ${'Maju '.repeat(30)}Jaya`;
    expect(parseCompany({ company: longest })).toEqual({ name: longest, npwp: undefined }); // never cut
    expect(parseCompany({ company: 'PT Maju' })).toEqual({ name: 'PT Maju', npwp: undefined });
    expect(parseCompany({ company: '', npwp: '0012345678901000' })).toEqual({ wrong: 'company' });
    expect(parseCompany({ company: 'PT Maju', npwp: '12' })).toEqual({ wrong: 'npwp' });
  });
});
