import type { ReceiptTax } from './content.ts';

/**
 * Returns the tax that an amount includes, in the unit of the amount. With 12% of 11/12 of the price, Rp 289.000 consist of 260.360 and
 * 28.640 of tax. Exact: no floating point until the result, which is a whole number.
 */
export function taxWithin(amount: number, { rate, base, rounding }: Omit<ReceiptTax, 'name'>): number {
  const [percent, hundred] = fractionOf(decimal(rate));
  const [part, whole] = fractionOf(base);
  const [over, under] = [percent * part, hundred * 100n * whole]; // tax per unit of the price
  return Number(divide(BigInt(amount) * over, under + over, rounding));
}

/**
 * Returns the base of the tax that an amount includes (in Indonesia the DPP, *nilai lain*), to the nearest unit: 11/12 of Rp 16.216 without
 * tax are 14.865. Undefined if the base is the whole price without tax.
 */
export function taxBaseWithin(amount: number, tax: Omit<ReceiptTax, 'name'>): number | undefined {
  const [part, whole] = fractionOf(tax.base);
  if (part === whole) return undefined;
  return Number(divide(BigInt(amount - taxWithin(amount, tax)) * part, whole, 'nearest'));
}

/** Formats a rate without an exponent: parsing 1e-7 would fail every payment that contains it. */
function decimal(rate: number): string {
  const text = String(rate);
  return text.includes('e') ? rate.toFixed(20) : text;
}

/** Numerator and denominator of `11/12`, `11.5` or `12`. */
function fractionOf(text: string): readonly [bigint, bigint] {
  const [over = '1', under] = text.split('/');
  if (under !== undefined) return [BigInt(over), BigInt(under)];
  const [whole = '0', decimals = ''] = over.split('.');
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
}

function divide(over: bigint, under: bigint, rounding: ReceiptTax['rounding']): bigint {
  if (rounding === 'nearest') return (2n * over + under) / (2n * under);
  return rounding === 'down' ? over / under : (over + under - 1n) / under;
}
