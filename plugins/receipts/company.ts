import { toOneLine } from '#core/platform/one-line.ts';

interface ReceiptCompany {
  readonly name: string;
  /** Tax number, digits only. */
  readonly npwp: string | undefined;
}

/** Maximum characters of each form field, as counted by HTML and form schemas. */
export const companyLengths = { company: 120, npwp: 40 } as const;

/**
 * Normalizes an Indonesian tax number to its stored form: 16 digits (an old number of 15 digits gets a leading zero), or 22 for a place of
 * business. Dots, hyphens and spaces are removed. There is no further check, because the numbers have no public check digit.
 *
 * @returns undefined for any other text
 */
export function normalizeNpwp(text: string): string | undefined {
  if (!/^[\d.\-\s]+$/.test(text)) return undefined;
  const digits = text.replaceAll(/\D/g, '');
  if (digits.length === 15) return `0${digits}`;
  return digits.length === 16 || digits.length === 22 ? digits : undefined;
}

/** Hides all but the last four digits of a tax number. */
export function maskNpwp(npwp: string): string {
  return '•'.repeat(Math.max(0, npwp.length - 4)) + npwp.slice(-4);
}

/** Reads the form fields `company` and `npwp`: undefined if both are empty, or the name of an invalid field. */
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
