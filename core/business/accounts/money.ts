const wholeUnitCurrencies = new Set(['IDR']); // paid in whole units, although ISO 4217 defines a minor unit

/**
 * Formats an amount for people, as is usual in the currency's country: `Rp 95.000`, `$19.99`.
 *
 * @param amount in the smallest unit in which the currency is paid
 */
export function formatMoney(amount: number, currency: string): string {
  const decimals = countDecimals(currency);
  const format = new Intl.NumberFormat(currency === 'IDR' ? 'id' : 'en', {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  // A line may break after a hyphen, but not after a minus sign.
  return format.format(amount / 10 ** decimals).replace(/^-/, '\u2212');
}

/** Formats an amount without no-break spaces, which some terminals display incorrectly. */
export function formatMoneyForTerminal(amount: number, currency: string): string {
  return formatMoney(amount, currency).replaceAll('\u00a0', ' ');
}

/** Returns how many of its smallest payable units make up one unit of the currency: 100 for USD, 1 for IDR. */
export function smallestUnitsPerUnit(currency: string): number {
  return 10 ** countDecimals(currency);
}

function countDecimals(currency: string): number {
  if (wholeUnitCurrencies.has(currency)) return 0;
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}
