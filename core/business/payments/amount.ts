/**
 * Reads an amount as providers write it, without floating point: `25000`, `"25000"` and `"25000.00"` are 25000 rupiah.
 *
 * @returns undefined for anything else: parts of a rupiah, thousands set apart (`25.000`), signs, exponents, more than Number.MAX_SAFE_INTEGER
 */
export function readRupiah(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const [, whole] = /^(\d{1,16})(?:\.00?)?$/.exec(String(value)) ?? [];
  return safeInteger(whole);
}

/**
 * Reads an amount as people type it: `30000`, `30.000`, `30,000` and `Rp 30.000` are 30000, in the smallest unit of the currency.
 *
 * @returns undefined for anything else: `30.00`, which might be 30 or 3000, signs, exponents, more than Number.MAX_SAFE_INTEGER
 */
export function readTypedAmount(text: string): number | undefined {
  const [, typed] = /^(?:rp\.?\s*)?(\d{1,16}|\d{1,3}(?:\.\d{3})+|\d{1,3}(?:,\d{3})+)$/i.exec(text.trim()) ?? [];
  return safeInteger(typed?.replaceAll(/\D/g, ''));
}

function safeInteger(digits: string | undefined): number | undefined {
  const amount = Number(digits ?? Number.NaN);
  return Number.isSafeInteger(amount) ? amount : undefined;
}
