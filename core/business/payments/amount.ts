/**
 * Reads an amount as providers write it, without floating point: `25000`, `"25000"` and `"25000.00"` are 25000 rupiah.
 *
 * @returns undefined for anything else: parts of a rupiah, thousands set apart (`25.000`), signs, exponents, more than Number.MAX_SAFE_INTEGER
 */
export function readRupiah(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const [, whole] = /^(\d{1,16})(?:\.00?)?$/.exec(String(value)) ?? [];
  const amount = Number(whole ?? Number.NaN);
  return Number.isSafeInteger(amount) ? amount : undefined;
}
