/**
 * Parses an amount in rupiah the way providers write it, without floating point: `25000`, `"25000"` and `"25000.00"` are 25000.
 *
 * @returns undefined for fractions, thousands separators (`25.000`), signs, exponents and values above Number.MAX_SAFE_INTEGER
 */
export function readRupiah(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const [, digits] = /^(\d{1,16})(?:\.00?)?$/.exec(String(value)) ?? [];
  return parseSafeInteger(digits);
}

/**
 * Parses an amount the way people type it, in the currency's smallest unit: `30000`, `30.000`, `30,000` and `Rp 30.000` are 30000.
 *
 * @returns undefined for `30.00`, which might mean 30 or 3000, and for signs, exponents and values above Number.MAX_SAFE_INTEGER
 */
export function readTypedAmount(text: string): number | undefined {
  const [, amount] = /^(?:rp\.?\s*)?(\d{1,16}|\d{1,3}(?:\.\d{3})+|\d{1,3}(?:,\d{3})+)$/i.exec(text.trim()) ?? [];
  return parseSafeInteger(amount?.replaceAll(/\D/g, ''));
}

function parseSafeInteger(digits: string | undefined): number | undefined {
  const amount = Number(digits ?? Number.NaN);
  return Number.isSafeInteger(amount) ? amount : undefined;
}
