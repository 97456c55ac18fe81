import { describe, expect, it } from 'vitest';
import { readRupiah, readTypedAmount } from '#core/business/payments/amount.ts';

describe('an amount in rupiah', () => {
  it.each([
    ['25000', 25_000],
    ['25000.00', 25_000],
    ['25000.0', 25_000],
    [25_000, 25_000],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['0', 0],
  ])('%j is read without floating point', (text, amount) => expect(readRupiah(text)).toBe(amount));

  it.each([
    '25000.50',
    '25000.001',
    25_000.5,
    '1e5',
    1e21,
    '',
    ' 25000',
    '25000.',
    '25.000.00',
    '-1',
    '25.000',
    '9007199254740992',
    null,
    {},
  ])('%j is not one', (text) => expect(readRupiah(text)).toBeUndefined());
});

describe('an amount that a person typed', () => {
  it.each([
    ['30000', 30_000],
    ['30.000', 30_000],
    ['30,000', 30_000],
    ['Rp 30.000', 30_000],
    ['rp.1.289.000', 1_289_000],
    [' 96 ', 96],
  ])('%j is read in whole, with its thousands set apart', (text, amount) => expect(readTypedAmount(text)).toBe(amount));

  it.each(['30.00', '30.0000', '1.000,000', '.000', '30 000', '-30', '1e5', '', 'Rp', '9007199254740992'])(
    '%j is not one',
    (text) => expect(readTypedAmount(text)).toBeUndefined(),
  );
});
