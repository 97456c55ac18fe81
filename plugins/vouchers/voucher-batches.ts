import { ActionRefused, type ActionSubject } from '#core/business/operator-actions/action-kind.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { epoch, epochs, type RecordOf, type Row, toRecord } from '#core/platform/database/rows.ts';
import type { Voucher, VoucherBatch } from './entities.ts';
import { computeDigest, normalizeCode, voucherExpiry, vouchersWithTerms } from './vouchers.ts';

/*
 * Operators' views of vouchers, and their changes to them.
 */

/** A batch with the number of its vouchers in each state. */
export type CountedBatch = RecordOf<BatchRow>;

type BatchRow = Row<
  typeof VoucherBatch,
  'id' | 'created_at' | 'expires_at' | 'days' | 'source' | 'is_for_new' | 'note'
> & {
  readonly redeemed: number;
  readonly revoked: number;
  /** Number of vouchers that are neither redeemed, revoked nor expired. */
  readonly open: number;
};

/** Lists batches, newest first, after the batch with the id `after`. */
export async function listBatches(database: Queries, limit: number, after?: string): Promise<CountedBatch[]> {
  const rows = await database.query<BatchRow>(
    `select b.id, ${epochs('b.created_at', 'b.expires_at')}, b.days, b.source, b.is_for_new, b.note,
       count(v.redeemed_at)::int as redeemed, count(v.revoked_at)::int as revoked,
       (count(*) filter (where v.redeemed_at is null and v.revoked_at is null and b.expires_at > clock_timestamp()))::int as open
     from voucher_batch b join voucher v on v.batch_id = b.id
     where ?::uuid is null or exists (
       select from voucher_batch c where c.id = ?::uuid and (c.created_at, b.id) > (b.created_at, c.id))
     group by b.id order by b.created_at desc, b.id limit ?`,
    [after ?? null, after ?? null, limit],
  );
  return rows.map(toRecord);
}

/** Origin: paid for elsewhere, given away, or bought here as a gift. */
type VoucherSource = 'sold' | 'given' | 'gift';

type VoucherRow = Row<typeof Voucher, 'id' | 'batch_id' | 'hint' | 'redeemed_at' | 'account_id'> & {
  readonly days: number;
  readonly source: VoucherSource;
  /** Note of the batch; for a gift, the code of its order. */
  readonly note: string;
  readonly state: 'open' | 'redeemed' | 'revoked' | 'expired';
  readonly expires_at: number;
  readonly email: string | null;
  readonly starts_at: number | null;
  readonly ends_at: number | null;
};

/** A voucher with the account that redeemed it. A gift has no batch. */
export type ListedVoucher = RecordOf<VoucherRow>;

interface VoucherFilter {
  readonly batch?: string | undefined;
  /** Cursor: id of the voucher before the first result. */
  readonly after?: string | undefined;
}

/**
 * Lists all vouchers, or a batch's, in order of creation; gifts have no batch.
 *
 * @throws ActionRefused `not_found`
 */
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

/** Iterates over all vouchers, page by page. */
export async function* iterateVouchers(database: Queries, batch: string | undefined): AsyncGenerator<ListedVoucher> {
  for (let after: string | undefined; ;) {
    const page = await listVouchers(database, { batch, after, limit: pageSize });
    yield* page;
    if (page.length < pageSize) return;
    after = page.at(-1)?.id;
  }
}

/**
 * Finds the subject of an operator's action: a batch, a code, or a gift by its order. The record shows a code in the same form as exports.
 *
 * @param handle id of a batch, a code, or the code of a gift's order
 * @throws ActionRefused `not_found`
 */
export async function findVouchers(database: Queries, handle: string): Promise<ActionSubject> {
  const code = normalizeCode(handle);
  const [sql, value, recordedAt] = uuid.test(handle)
    ? ['select batch_id as id from voucher where batch_id = ? limit 1', handle, handle]
    : /^ORD-/i.test(handle)
      ? ['select v.id from voucher v join plan_order o on o.id = v.order_id where o.code = upper(?)', handle, handle]
      : [`select id from voucher where sha256 = decode(?, 'hex')`, computeDigest(code), `…${code.slice(-4)}`];
  const [row] = await database.query<{ id: string }>(sql, [value]);
  if (row !== undefined) return { id: row.id, recordedAt, ...(uuid.test(handle) && { name: 'batch' }) };
  throw new ActionRefused(`There is neither a batch nor a code nor a gift "${handle}".`, 'not_found');
}

/**
 * Withdraws one code, or the unredeemed codes of a batch. Redeemed days stay; `account revoke` removes them.
 *
 * @param id id of the batch or the voucher
 * @returns the number of withdrawn codes
 */
export async function revokeVouchers(database: Queries, id: string): Promise<number> {
  const revoked = await database.query<unknown>(
    `update voucher set revoked_at = clock_timestamp()
     where (batch_id = ? or id = ?) and redeemed_at is null and revoked_at is null returning 1`,
    [id, id],
  );
  return revoked.length;
}

interface RedeemedDay {
  readonly day: string; // 2026-11-22, in the zone of the books
  readonly source: VoucherSource;
  readonly vouchers: number;
  readonly days: number;
}

/**
 * Reads the vouchers redeemed in a month, by day. No other book contains them, because batches bring in no money here, and the money of
 * gifts is in the book of the day on which they were paid.
 *
 * @param month `2026-11`
 */
export async function readVoucherMonth(database: Queries, month: string, timeZone: string): Promise<RedeemedDay[]> {
  return database.query<RedeemedDay>(
    `select to_char(v.redeemed_at at time zone ?, 'YYYY-MM-DD') as day, coalesce(b.source, 'gift') as source,
       count(*)::int as vouchers, sum(coalesce(b.days, o.days))::int as days
     from ${vouchersWithTerms}
     where v.redeemed_at >= ?::date::timestamp at time zone ?
       and v.redeemed_at < (?::date + interval '1 month')::timestamp at time zone ?
     group by 1, 2 order by 1, 2`,
    [timeZone, `${month}-01`, timeZone, `${month}-01`, timeZone],
  );
}

/** Returns true while a redeemable code may exist. */
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
