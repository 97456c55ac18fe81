import type { ReceiptLine, ReceiptReference } from '#core/business/payments/receipts.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { epoch, epochs, type RecordOf, type RowWithout, toRecord } from '#core/platform/database/rows.ts';
import { type ReceiptContent, wholePrice } from './content.ts';
import type { Receipt as ReceiptEntity } from './entities.ts';

const columns = `r.id, r.kind, r.payment_id, r.refund_key, r.order_id, r.account_id, r.code, r.currency, r.amount::float8 as amount,
  r.tax::float8 as tax, r.buyer, r.company, r.npwp, r.content, p.number::float8 as of_number, coalesce(r.added_company, p.added_company) as added_company,
  coalesce(r.added_npwp, p.added_npwp) as added_npwp, ${epoch('coalesce(r.added_at, p.added_at)')} as added_at,
  r.is_test, r.number::float8 as number, ${epochs('r.made_at')}`;

/** Joins each refund with the receipt `p` of its payment, because a company added there is the buyer on both. */
const receiptsWithPayments = `receipt r left join receipt p on r.kind = 'refund' and p.kind = 'payment' and p.payment_id = r.payment_id`;

type ReceiptRow = RowWithout<typeof ReceiptEntity, 'content' | 'numbered_at' | 'created_at'> & {
  readonly content: ReceiptContent;
  readonly of_number: number | null; // for a refund, the number of its payment's receipt
};

export type Receipt = RecordOf<ReceiptRow>;

export interface PaymentReceipt {
  readonly receipt: Receipt;
  readonly refunds: readonly Receipt[]; // oldest first
}

/** @param id receipt id of a payment or of one of its refunds */
export async function readPaymentReceipt(database: Queries, id: string): Promise<PaymentReceipt | undefined> {
  if (!uuid.test(id)) return undefined;
  const rows = await database.query<ReceiptRow>(
    // Joined by the order, whose index also covers refunds.
    `select ${columns} from ${receiptsWithPayments} join receipt one on one.order_id = r.order_id and one.payment_id = r.payment_id
     where one.id = ? order by r.kind, r.made_at, r.created_at, r.id`,
    [id],
  );
  const [receipt, ...refunds] = rows.map((row) => toRecord(row) as Receipt);
  return receipt === undefined ? undefined : { receipt, refunds };
}

export async function findPaymentReceiptId(database: Queries, paymentId: string): Promise<string | undefined> {
  const [row] = await database.query<{ id: string }>(
    `select id from receipt where payment_id = ? and kind = 'payment'`,
    [paymentId],
  );
  return row?.id;
}

export const buildOwnPath = (id: string) => `/receipts/${id}`;
export const buildOperatorPath = (id: string) => `/operator/receipts/${id}`;

/** `000123`; for refunds, `R-000012`. */
export function formatNumber({ kind, number }: Pick<Receipt, 'kind' | 'number'>): string | undefined {
  if (number === undefined) return undefined;
  return `${kind === 'refund' ? 'R-' : ''}${String(number).padStart(6, '0')}`;
}

/** The receipt of the activating payment comes first. */
export async function listReceipts(database: Queries, orderId: string): Promise<ReceiptReference[]> {
  const rows = await database.query<ReceiptRow>(
    `select ${columns} from ${receiptsWithPayments} where r.order_id = ?
     order by r.kind, r.content ->> 'outcome' <> 'activated', r.made_at, r.created_at, r.id`,
    [orderId],
  );
  return rows.map((row) => {
    const { id, kind, paymentId, number } = toRecord(row) as Receipt;
    const paths = { path: buildOwnPath(id), operatorPath: buildOperatorPath(id) };
    return { kind, paymentId, number: formatNumber({ kind, number }), ...paths };
  });
}

/** Returns the company on the newest receipt that names one, or else the one named at checkout. */
export async function readCompany(
  database: Queries,
  orderId: string,
): Promise<{ readonly name: string; readonly npwp: string | undefined } | undefined> {
  const [company] = await database.query<{ name: string; npwp: string | null }>(
    `select name, npwp from (
       select coalesce(added_company, company) as name, case when added_at is null then npwp else added_npwp end as npwp, made_at
       from receipt where order_id = ? and kind = 'payment'
       union all select company, npwp, null from receipt_company where order_id = ?
     ) named where name is not null order by made_at desc nulls last limit 1`,
    [orderId, orderId],
  );
  return company && { name: company.name, npwp: company.npwp ?? undefined };
}

interface ReceiptFilter {
  readonly words?: string | undefined;
  readonly waiting?: boolean | undefined;
  readonly after?: string | undefined; // id of the last receipt of the previous page
}

export async function findReceipts(
  database: Queries,
  { words, waiting, after }: ReceiptFilter,
  limit: number,
): Promise<Receipt[]> {
  const text = words?.trim();
  const digits = text === undefined ? undefined : /^(?:R-)?0*(\d{1,15})$/i.exec(text)?.[1];
  const rows = await database.query<ReceiptRow>(
    `select ${columns} from ${receiptsWithPayments}
     where (?::text is null or r.code = upper(?) or r.number = ?::bigint
         or strpos(lower(concat_ws(' ', r.buyer, r.company, r.added_company, p.added_company)), lower(?)) > 0)
       and (not ?::boolean or (r.number is null and not r.is_test))
       and (?::uuid is null or (r.made_at, r.id) < (select made_at, id from receipt where id = ?::uuid))
     order by r.made_at desc, r.id desc limit ?`,
    [text, text, digits, text, waiting === true, after, after, limit].map((value) => value ?? null),
  );
  return rows.map((row) => toRecord(row) as Receipt);
}

export async function listReceiptLines(
  database: Queries,
  { since, until, currency }: { readonly since: Date; readonly until: Date; readonly currency: string },
): Promise<ReceiptLine[] | undefined> {
  const [anyReceipt] = await database.query('select 1 from receipt limit 1');
  if (anyReceipt === undefined) return undefined;
  const rows = await database.query<ReceiptRow>(
    `select ${columns} from ${receiptsWithPayments}
     where r.made_at >= to_timestamp(?::float8 / 1000) and r.made_at < to_timestamp(?::float8 / 1000) and r.currency = ?
     order by r.kind, r.number nulls last, r.made_at, r.id`,
    [since.getTime(), until.getTime(), currency],
  );
  return rows.map((row) => {
    const receipt = toRecord(row) as Receipt;
    const { kind, madeAt: at, code, amount, tax = 0, content, ofNumber } = receipt;
    const { name: buyer, npwp } = getBuyer(receipt);
    return {
      seller: content.seller.name,
      kind,
      at,
      number: formatNumber(receipt),
      code,
      buyer,
      npwp,
      gross: amount,
      withoutTax: amount - tax,
      tax,
      taxBase: content.tax?.base === wholePrice ? amount - tax : content.taxBase,
      refundOf: formatNumber({ kind: 'payment', number: ofNumber }),
    };
  });
}

export function getBuyer(
  { buyer, company, npwp, addedAt, addedCompany, addedNpwp }: Receipt,
  isAsIssued = false,
): { readonly name: string; readonly npwp: string | undefined } {
  if (addedAt !== undefined && addedCompany !== undefined && !isAsIssued)
    return { name: addedCompany, npwp: addedNpwp };
  return { name: company ?? buyer, npwp };
}
