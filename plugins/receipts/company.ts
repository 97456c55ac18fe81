import { toOneLine } from '#core/platform/one-line.ts';

interface ReceiptCompany {
  readonly name: string;
  readonly npwp: string | undefined; // tax number, digits only
}

export const companyLengths = { company: 120, npwp: 40 } as const; // maximum lengths, as HTML and form schemas count them

/**
 * Normalizes an Indonesian tax number to the form in which it is stored: 16 digits (an old 15-digit number gets a leading zero), or 22 for
 * a place of business. Removes dots, hyphens and spaces. Nothing else is checked, because these numbers have no published check digit.
 *
 * @returns undefined for any other text
 */
export function normalizeNpwp(text: string): string | undefined {
  if (!/^[\d.\-\s]+$/.test(text)) return undefined;
  const digits = text.replaceAll(/\D/g, '');
  if (digits.length === 15) return `0${digits}`;
  return digits.length === 16 || digits.length === 22 ? digits : undefined;
}

export function maskNpwp(npwp: string): string {
  return '•'.repeat(Math.max(0, npwp.length - 4)) + npwp.slice(-4);
}

/** Returns undefined if both fields are empty. `wrong` is the name of the invalid field. */
export function parseCompany({
  company = '',
  npwp = '',
}: Readonly<Record<string, string | undefined>>): ReceiptCompany | undefined | { readonly wrong: string } {
  const name = toOneLine(company);
  if (name === '') return npwp.trim() === '' ? undefined : { wrong: 'company' };
  if (npwp.trim() === '') return { name, npwp: undefined };
  const digits = normalizeNpwp(npwp.trim());
  return digits === undefined ? { wrong: 'npwp' } : { name, npwp: digits };
}
