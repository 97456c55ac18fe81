import { oneLine } from '#core/platform/one-line.ts';

/** A company in whose name a receipt is issued, as the buyer has given it. */
interface ReceiptCompany {
  readonly name: string;
  /** Tax number; digits alone. */
  readonly npwp: string | undefined;
}

/** Most characters of each field of a form, as HTML and the schemas of forms count them. */
export const companyLengths = { company: 120, npwp: 40 } as const;

/**
 * An Indonesian tax number as it is stored: 16 digits (an old one of 15 gets a zero in front), or 22 of a place of business. Dots,
 * hyphens and spaces between the digits are left out; nothing else is checked, because numbers have no public check digit.
 *
 * @returns undefined for any other text
 */
export function readNpwp(text: string): string | undefined {
  if (!/^[\d.\-\s]+$/.test(text)) return undefined;
  const digits = text.replaceAll(/\D/g, '');
  if (digits.length === 15) return `0${digits}`;
  return digits.length === 16 || digits.length === 22 ? digits : undefined;
}

/** The same with all but the last four digits hidden. */
export function maskNpwp(npwp: string): string {
  return '•'.repeat(Math.max(0, npwp.length - 4)) + npwp.slice(-4);
}

/** Reads the fields `company` and `npwp` of a form. @returns undefined when both are empty; the field with a mistake */
export function readCompany({
  company = '',
  npwp = '',
}: Readonly<Record<string, string | undefined>>): ReceiptCompany | undefined | { readonly wrong: string } {
  const name = oneLine(company);
  if (name === '') return npwp.trim() === '' ? undefined : { wrong: 'company' };
  if (npwp.trim() === '') return { name, npwp: undefined };
  const digits = readNpwp(npwp.trim());
  return digits === undefined ? { wrong: 'npwp' } : { name, npwp: digits };
}
