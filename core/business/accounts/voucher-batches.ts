import type { Database } from '#core/platform/database/database.ts';
import { epoch, epochs } from '#core/platform/database/rows.ts';
import { uuid } from '#core/platform/database/database.ts';
import { createHash } from 'node:crypto';
import { AccountError } from './account-error.ts';
import { normalizeCode } from './vouchers.ts';

/*
 * What the operator sees of vouchers and does with them.
 */

/** A batch, with how many of its vouchers are in which state. Times are epoch ms. */
export interface VoucherBatchCounts {
  readonly id: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly days: number;
  readonly source: 'sold' | 'given';
  readonly is_for_new: boolean;
  readonly note: string;
  readonly redeemed: number;
  readonly revoked: number;
  /** Neither redeemed nor revoked nor expired. */
  readonly open: number;
}

/** The newest batches first. */
export async function listBatches(database: Pick<Database, 'query'>, limit: number): Promise<VoucherBatchCounts[]> {
  return database.query<VoucherBatchCounts>(
    `select b.id, ${epochs('b.created_at', 'b.expires_at')}, b.days, b.source, b.is_for_new, b.note,
       count(v.redeemed_at)::int as redeemed, count(v.revoked_at)::int as revoked,
       (count(*) filter (where v.redeemed_at is null and v.revoked_at is null and b.expires_at > clock_timestamp()))::int as open
     from voucher_batch b join voucher v on v.batch_id = b.id
     group by b.id order by b.created_at desc, b.id limit ?`,
    [limit],
  );
}

/** One voucher, with who redeemed it. Times are epoch ms. */
export interface ListedVoucher {
  readonly id: string;
  readonly batch_id: string;
  readonly hint: string;
  readonly days: number;
  readonly source: 'sold' | 'given';
  readonly note: string;
  readonly state: 'open' | 'redeemed' | 'revoked' | 'expired';
  readonly expires_at: number;
  readonly redeemed_at: number | null;
  readonly account_id: string | null;
  readonly email: string | null;
  readonly starts_at: number | null;
  readonly ends_at: number | null;
}

/** Vouchers that are read at once. */
const pageSize = 500;

/** All vouchers, or those of a batch, in the order in which they were made. */
export async function* listVouchers(
  database: Pick<Database, 'query'>,
  batch: string | undefined,
): AsyncGenerator<ListedVoucher> {
  if (batch !== undefined && !uuid.test(batch)) throw new AccountError('not_found', `There is no batch ${batch}.`);
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const rows = await database.query<ListedVoucher>(
      `select v.id, v.batch_id, v.hint, b.days, b.source, b.note, ${epoch('b.expires_at')} as expires_at,
         ${epoch('v.redeemed_at')} as redeemed_at, v.account_id, a.email,
         ${epoch('p.starts_at')} as starts_at, ${epoch('p.ends_at')} as ends_at,
         case when v.redeemed_at is not null then 'redeemed' when v.revoked_at is not null then 'revoked'
           when b.expires_at <= clock_timestamp() then 'expired' else 'open' end as state
       from voucher v join voucher_batch b on b.id = v.batch_id
         left join account a on a.id = v.account_id left join plan_period p on p.voucher_id = v.id
       where v.id > ?::uuid and (?::uuid is null or v.batch_id = ?::uuid) order by v.id limit ?`,
      [after, batch ?? null, batch ?? null, pageSize],
    );
    yield* rows;
    if (rows.length < pageSize) return;
    after = rows.at(-1)?.id ?? after;
  }
}

/**
 * Withdraws what is not redeemed: of a batch, or one code. Days that were redeemed stay; `account days` takes them back.
 *
 * @param handle id of a batch, or a code
 * @returns how many were withdrawn
 * @throws AccountError `not_found`
 */
export async function revokeVouchers(database: Pick<Database, 'query'>, handle: string): Promise<number> {
  const [condition, value] = uuid.test(handle)
    ? ['batch_id = ?::uuid', handle]
    : [`sha256 = decode(?, 'hex')`, createHash('sha256').update(normalizeCode(handle)).digest('hex')];
  const [known] = await database.query<unknown>(`select 1 from voucher where ${condition} limit 1`, [value]);
  if (known === undefined) throw new AccountError('not_found', `There is neither a batch nor a code "${handle}".`);
  const revoked = await database.query<unknown>(
    `update voucher set revoked_at = clock_timestamp()
     where ${condition} and redeemed_at is null and revoked_at is null returning 1`,
    [value],
  );
  return revoked.length;
}

/** What was redeemed on a day, by how it had reached its holder. */
export interface RedeemedDay {
  readonly day: string; // 2026-11-22, in the zone of the books
  readonly source: 'sold' | 'given';
  readonly vouchers: number;
  readonly days: number;
}

/** Vouchers redeemed in a month, by day. They are in no other book: no money came for them here. @param month `2026-11` */
export async function readVoucherMonth(
  database: Pick<Database, 'query'>,
  month: string,
  timeZone: string,
): Promise<RedeemedDay[]> {
  return database.query<RedeemedDay>(
    `select to_char(v.redeemed_at at time zone ?, 'YYYY-MM-DD') as day, b.source, count(*)::int as vouchers,
       sum(b.days)::int as days
     from voucher v join voucher_batch b on b.id = v.batch_id
     where v.redeemed_at >= ?::date::timestamp at time zone ?
       and v.redeemed_at < (?::date + interval '1 month')::timestamp at time zone ?
     group by 1, 2 order by 1, 2`,
    [timeZone, `${month}-01`, timeZone, `${month}-01`, timeZone],
  );
}

/** True while somebody may hold a code that can be redeemed. */
export async function hasOpenVouchers(database: Pick<Database, 'query'>): Promise<boolean> {
  const found = await database.query<unknown>(
    `select 1 from voucher_batch b where b.expires_at > clock_timestamp() and exists (
       select from voucher v where v.batch_id = b.id and v.redeemed_at is null and v.revoked_at is null) limit 1`,
  );
  return found.length > 0;
}
