const wholeCurrencies = new Set(['IDR']); // paid in whole units although ISO 4217 defines a minor unit

/**
 * Formats an amount for people, as is usual where the currency is used: `Rp 95.000`, `$19.99`.
 *
 * @param amount in the smallest unit that the currency is paid in
 */
export function formatMoney(amount: number, currency: string): string {
  const digits = digitsOf(currency);
  const format = new Intl.NumberFormat(currency === 'IDR' ? 'id' : 'en', {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  // Lines can break after a hyphen, but not after a minus sign.
  return format.format(amount / 10 ** digits).replace(/^-/, '\u2212');
}

/** Returns the smallest payable units per unit of the currency: 100 for USD, 1 for IDR. */
export function smallestUnits(currency: string): number {
  return 10 ** digitsOf(currency);
}

function digitsOf(currency: string): number {
  if (wholeCurrencies.has(currency)) return 0;
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}
