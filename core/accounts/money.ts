/** Currencies that are paid in whole units although ISO 4217 gives them a smaller one. */
const paidWhole = new Set(['IDR']);

/** An amount for people: `Rp 95.000`, `$19.99`. Each currency is written as where it is paid. @param amount in the smallest unit that the currency is paid in */
export function formatMoney(amount: number, currency: string): string {
  const iso = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  const digits = paidWhole.has(currency) ? 0 : iso;
  const format = new Intl.NumberFormat(currency === 'IDR' ? 'id' : 'en', {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return format.format(amount / 10 ** digits);
}
