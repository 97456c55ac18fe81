import { ActionRefused, type ActionSubject } from '#core/business/operator-actions/action-kind.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { epoch, epochs, type RecordOf, type Row, toRecord } from '#core/platform/database/rows.ts';
import type { Voucher, VoucherBatch } from './entities.ts';
import { computeDigest, normalizeCode, voucherExpiry, vouchersWithTerms } from './vouchers.ts';

/* What operators can list and change about vouchers. */

export type CountedBatch = RecordOf<BatchRow>;

type BatchRow = Row<
  typeof VoucherBatch,
  'id' | 'created_at' | 'expires_at' | 'days' | 'source' | 'is_for_new' | 'note'
> & {
  readonly redeemed: number;
  readonly revoked: number;
  readonly open: number; // neither redeemed, revoked nor expired
};

export async function listBatches(database: Queries, limit: number, after?: string): Promise<CountedBatch[]> {
  const rows = await database.query<BatchRow>(
    `select b.id, ${epochs('b.created_at', 'b.expires_at')}, b.days, b.source, b.is_for_new, b.note,
       count(v.redeemed_at)::int as redeemed, count(v.revoked_at)::int as revoked,
       (count(*) filter (where v.redeemed_at is null and v.revoked_at is null and b.expires_at > clock_timestamp()))::int as open
     from voucher_batch b join voucher v on v.batch_id = b.id
     -- The order is created_at descending, id ascending, hence the crossed aliases.
     where ?::uuid is null or exists (
       select from voucher_batch c where c.id = ?::uuid and (c.created_at, b.id) > (b.created_at, c.id))
     group by b.id order by b.created_at desc, b.id limit ?`,
    [after ?? null, after ?? null, limit],
  );
  return rows.map(toRecord);
}

type VoucherSource = 'sold' | 'given' | 'gift'; // paid for elsewhere, given away, or bought here as a gift

type VoucherRow = Row<typeof Voucher, 'id' | 'batch_id' | 'hint' | 'redeemed_at' | 'account_id'> & {
  readonly days: number;
  readonly source: VoucherSource;
  readonly note: string; // the batch's; for a gift, its order code
  readonly state: 'open' | 'redeemed' | 'revoked' | 'expired';
  readonly expires_at: number;
  readonly email: string | null;
  readonly starts_at: number | null;
  readonly ends_at: number | null;
};

export type ListedVoucher = RecordOf<VoucherRow>;

interface VoucherFilter {
  readonly batch?: string | undefined;
  readonly after?: string | undefined; // id of the last voucher of the previous page
}

/** Gifts belong to no batch. Throws ActionRefused `not_found`. */
export async function listVouchers(
  database: Queries,
  { batch, after, limit }: VoucherFilter & { readonly limit: number },
): Promise<ListedVoucher[]> {
  if (batch !== undefined && !uuid.test(batch)) throw new ActionRefused(`Batch ${batch} not found.`, 'not_found');
  if (after !== undefined && !uuid.test(after)) throw new ActionRefused(`Voucher ${after} not found.`, 'not_found');
  const rows = await database.query<VoucherRow>(
    `select v.id, v.batch_id, v.hint, coalesce(b.days, o.days) as days, coalesce(b.source, 'gift') as source,
       coalesce(b.note, o.code) as note, ${epoch(voucherExpiry)} as expires_at,
       ${epoch('v.redeemed_at')} as redeemed_at, v.account_id, a.email,
       ${epoch('p.starts_at')} as starts_at, ${epoch('p.ends_at')} as ends_at,
       case when v.redeemed_at is not null then 'redeemed' when v.revoked_at is not null then 'revoked'
         when ${voucherExpiry} <= clock_timestamp() then 'expired' else 'open' end as state
     from ${vouchersWithTerms} left join account a on a.id = v.account_id left join plan_period p on p.voucher_id = v.id
     where (?::uuid is null or v.id > ?::uuid) and (?::uuid is null or v.batch_id = ?::uuid) order by v.id limit ?`,
    [after ?? null, after ?? null, batch ?? null, batch ?? null, limit],
  );
  return rows.map(toRecord);
}

const pageSize = 500;

export async function* iterateVouchers(database: Queries, batch: string | undefined): AsyncGenerator<ListedVoucher> {
  for (let after: string | undefined; ;) {
    const page = await listVouchers(database, { batch, after, limit: pageSize });
    yield* page;
    if (page.length < pageSize) return;
    after = page.at(-1)?.id;
  }
}

/**
 * `handle` is a batch id, voucher code, or gift order code. A code is recorded by its last four characters only, as in exports.
 *
 * @throws ActionRefused `not_found`
 */
export async function findVouchers(database: Queries, handle: string): Promise<ActionSubject> {
  const find = async (sql: string, value: string, recordedAt = handle): Promise<ActionSubject> => {
    const [row] = await database.query<{ id: string }>(sql, [value]);
    if (row !== undefined) return { id: row.id, recordedAt };
    throw new ActionRefused(`No batch, code or gift order matches "${handle}".`, 'not_found');
  };
  if (uuid.test(handle))
    return { ...(await find('select batch_id as id from voucher where batch_id = ? limit 1', handle)), name: 'batch' };
  if (/^ORD-/i.test(handle))
    return find('select v.id from voucher v join plan_order o on o.id = v.order_id where o.code = upper(?)', handle);
  const code = normalizeCode(handle);
  return find(`select id from voucher where sha256 = decode(?, 'hex')`, computeDigest(code), `…${code.slice(-4)}`);
}

/** `id` is a batch's or a voucher's. Redeemed days are kept; `account revoke` removes them. Returns the number of withdrawn codes. */
export async function revokeVouchers(database: Queries, id: string): Promise<number> {
  const revoked = await database.query<unknown>(
    `update voucher set revoked_at = clock_timestamp()
     where (batch_id = ? or id = ?) and redeemed_at is null and revoked_at is null returning 1`,
    [id, id],
  );
  return revoked.length;
}

interface DailyRedemptions {
  readonly day: string; // 2026-11-22, in the accounting time zone
  readonly source: VoucherSource;
  readonly vouchers: number;
  readonly days: number;
}

/** `month` is `2026-11`. No other report shows redemptions: batches bring no revenue here, and gifts are booked on the day of payment. */
export async function listRedemptionsByDay(
  database: Queries,
  month: string,
  timeZone: string,
): Promise<DailyRedemptions[]> {
  return database.query<DailyRedemptions>(
    `select to_char(v.redeemed_at at time zone ?, 'YYYY-MM-DD') as day, coalesce(b.source, 'gift') as source,
       count(*)::int as vouchers, sum(coalesce(b.days, o.days))::int as days
     from ${vouchersWithTerms}
     where v.redeemed_at >= ?::date::timestamp at time zone ?
       and v.redeemed_at < (?::date + interval '1 month')::timestamp at time zone ?
     group by 1, 2 order by 1, 2`,
    [timeZone, `${month}-01`, timeZone, `${month}-01`, timeZone],
  );
}

export async function hasOpenVouchers(database: Queries): Promise<boolean> {
  const rows = await database.query<unknown>(
    `select 1 from voucher_batch b where b.expires_at > clock_timestamp() and exists (
       select from voucher v where v.batch_id = b.id and v.redeemed_at is null and v.revoked_at is null)
     union all
     select 1 from voucher where order_id is not null and redeemed_at is null and revoked_at is null
       and expires_at > clock_timestamp() limit 1`,
  );
  return rows.length > 0;
}
