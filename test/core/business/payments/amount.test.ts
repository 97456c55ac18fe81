import { describe, expect, it } from 'vitest';
import { readRupiah } from '#core/business/payments/amount.ts';

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
