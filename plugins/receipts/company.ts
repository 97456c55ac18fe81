import type { EntityManager } from '@mikro-orm/postgresql';
import type { ReceiptCompany } from '#core/business/payments/receipts.ts';
import type { Database } from '#core/platform/database/database.ts';
import { oneLine } from '#core/platform/one-line.ts';

/** Characters of a company's name. */
const longestCompany = 120;

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
  const name = oneLine(company).trim().slice(0, longestCompany);
  if (name === '') return npwp.trim() === '' ? undefined : { wrong: 'company' };
  if (npwp.trim() === '') return { name, npwp: undefined };
  const digits = readNpwp(npwp.trim());
  return digits === undefined ? { wrong: 'npwp' } : { name, npwp: digits };
}

/** Stores the company of an open order; undefined removes it. */
export async function setCompany(
  transaction: EntityManager,
  orderId: string,
  company: ReceiptCompany | undefined,
): Promise<void> {
  if (company === undefined) {
    await transaction.execute('delete from receipt_company where order_id = ?', [orderId]);
    return;
  }
  await transaction.execute(
    `insert into receipt_company (order_id, account_id, name, npwp) select id, account_id, ?, ? from plan_order where id = ?
     on conflict (order_id) do update set name = excluded.name, npwp = excluded.npwp, entered_at = clock_timestamp()`,
    [company.name, company.npwp ?? null, orderId],
  );
}

/** The company of the account's newest order; undefined if that had none. */
export async function lastCompany(
  database: Pick<Database, 'query'>,
  accountId: string,
): Promise<ReceiptCompany | undefined> {
  const [row] = await database.query<{ name: string | null; npwp: string | null }>(
    `select c.name, c.npwp from plan_order o left join receipt_company c on c.order_id = o.id
     where o.account_id = ? order by o.created_at desc, o.id desc limit 1`,
    [accountId],
  );
  return row?.name == null ? undefined : { name: row.name, npwp: row.npwp ?? undefined };
}
