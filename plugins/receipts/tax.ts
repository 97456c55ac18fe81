import type { ReceiptTax } from './content.ts';

/** Rp 289.000 with 12% on 11/12 of the price is 260.360 plus 28.640 tax. The result is exact, because the computation is in integers. */
export function computeIncludedTax(amount: number, { rate, base, rounding }: Omit<ReceiptTax, 'name'>): number {
  const [percent, hundred] = parseFraction(formatDecimal(rate));
  const [part, whole] = parseFraction(base);
  const [taxPart, pricePart] = [percent * part, hundred * 100n * whole]; // tax per unit of the price
  return Number(divide(BigInt(amount) * taxPart, pricePart + taxPart, rounding));
}

/**
 * Returns the base of the tax included in an amount (in Indonesia the DPP, *nilai lain*), to the nearest unit: 11/12 of Rp 16.216 before
 * tax is 14.865.
 *
 * @returns undefined if the base is the whole price before tax
 */
export function computeTaxBase(amount: number, tax: Omit<ReceiptTax, 'name'>): number | undefined {
  const [part, whole] = parseFraction(tax.base);
  if (part === whole) return undefined;
  return Number(divide(BigInt(amount - computeIncludedTax(amount, tax)) * part, whole, 'nearest'));
}

/** A rate such as 1e-7 could not be parsed, and every payment with it would fail. */
function formatDecimal(rate: number): string {
  const text = String(rate);
  return text.includes('e') ? rate.toFixed(20) : text;
}

function parseFraction(text: string): readonly [bigint, bigint] {
  // `11/12`, `11.5` or `12`
  const [over = '1', under] = text.split('/');
  if (under !== undefined) return [BigInt(over), BigInt(under)];
  const [whole = '0', decimals = ''] = over.split('.');
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
}

function divide(numerator: bigint, denominator: bigint, rounding: ReceiptTax['rounding']): bigint {
  if (rounding === 'nearest') return (2n * numerator + denominator) / (2n * denominator);
  return rounding === 'down' ? numerator / denominator : (numerator + denominator - 1n) / denominator;
}
