import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { PlanPeriodSchema } from '#core/business/accounts/entities.ts';
import { addDays, lockAccount, type NewPeriod } from '#core/business/accounts/ledger.ts';
import type { RateLimits } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { parseNetwork } from '#core/gateway/http/network.ts';
import type { Transactions } from '#core/platform/database/database.ts';
import { epochs, type Row, toRecord } from '#core/platform/database/rows.ts';
import { takeRequest } from '#core/platform/shared/shared.ts';

/**
 * Crockford's base 32, without letters that look like digits. 16 characters are 80 bits, which cannot be guessed, so the digest needs
 * neither a salt nor a slow function.
 */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeLength = 16;

const maxAttempts = { account: 10, network: 50 }; // per hour; valid codes count too
const hourSeconds = 3_600;

export interface NewBatch {
  readonly batch?: string;
  readonly count: number;
  readonly days: number;
  readonly label?: string | undefined; // of the days, as their owners see it
  readonly note: string; // the operator's, such as where the vouchers go
  readonly source?: 'sold' | 'given' | undefined;
  readonly for?: 'all' | 'new' | undefined;
  readonly valid?: number | undefined; // days until the vouchers expire
}

/** Why a code adds no days. The message is meant for people, and is the same for all codes that cannot be redeemed. */
export class VoucherError extends Error {
  override readonly name = 'VoucherError';
  readonly kind: 'unusable' | 'blocked' | 'too_many_attempts';
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: VoucherError['kind'], message: string, retryAfterSeconds?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

interface Redemption {
  readonly days: number;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly isNew: boolean; // false if this account had already redeemed the code; no days were added
}

/** Only this call returns the codes; the database stores digests. */
export async function createVouchers(
  database: Transactions,
  { batch = randomUUIDv7(), count, days, label, note, source = 'sold', for: accounts = 'all', valid = 365 }: NewBatch,
): Promise<{ readonly batch: string; readonly codes: readonly string[] }> {
  const codes = Array.from({ length: count }, createCode);
  const rows = codes.map((code) => ({ id: randomUUIDv7(), sha256: computeDigest(code), hint: code.slice(-4) }));
  await database.fork().transactional(async (transaction) => {
    await transaction.execute(
      `insert into voucher_batch (id, days, label, note, source, is_for_new, expires_at)
       values (?, ?, ?, ?, ?, ?, clock_timestamp() + make_interval(hours => 24 * ?))`,
      [batch, days, label ?? null, note, source, accounts === 'new', valid],
    );
    await transaction.execute(
      `insert into voucher (id, batch_id, sha256, hint)
       select id, ?, decode(sha256, 'hex'), hint from json_to_recordset(?::json) as v(id uuid, sha256 text, hint text)`,
      [batch, JSON.stringify(rows)],
    );
  });
  return { batch, codes };
}

/**
 * Adds the days in the transaction that redeems the voucher and under the locks of account and voucher, so that neither a second instance
 * nor a crash adds them twice or loses them.
 *
 * @throws VoucherError
 * @throws AccountError `too_many_days`; the voucher can be redeemed later
 */
export async function redeemVoucher(
  host: Pick<Host, 'database' | 'shared'>,
  accountId: string,
  typedCode: string,
  address: string,
): Promise<Redemption> {
  await countAttempt(host, accountId, address);
  return host.database.fork().transactional(async (transaction) => {
    const { blockedAt, deletedAt } = await lockAccount(transaction, accountId);
    if (blockedAt !== undefined || deletedAt !== undefined)
      throw new VoucherError('blocked', 'This account is blocked. It cannot redeem vouchers.');
    const voucher = await lockVoucher(transaction, typedCode);
    if (voucher === undefined) throw createUnusableError();
    if (voucher.account_id === accountId) return { ...(await findPeriod(transaction, voucher.id)), isNew: false };
    if (!voucher.is_usable || (voucher.is_for_new && !(await isNewAccount(transaction, accountId))))
      throw createUnusableError();
    const { id, days, label, note, hint, order_id: orderId, limits: soldLimits } = voucher;
    const period: NewPeriod = {
      days,
      reason: orderId === null ? 'voucher' : 'gift',
      label: label ?? undefined,
      note: `…${hint}: ${note}`,
      voucherId: id,
      orderId: orderId ?? undefined,
      limits: soldLimits ?? undefined,
    };
    const { startsAt, endsAt } = await addDays(transaction, accountId, period);
    await transaction.execute('update voucher set account_id = ?, redeemed_at = clock_timestamp() where id = ?', [
      accountId,
      id,
    ]);
    return { days, startsAt, endsAt, isNew: true };
  });
}

/** The same error whether the code is unknown, used, revoked, expired or restricted, so that it reveals nothing about a code. */
function createUnusableError(): VoucherError {
  return new VoucherError(
    'unusable',
    'This code cannot be redeemed. It is mistyped, used, expired or withdrawn, or only for new accounts.',
  );
}

interface LockedVoucher {
  readonly id: string;
  readonly hint: string;
  readonly account_id: string | null;
  readonly order_id: string | null; // the order of a gift, which sets the terms of its days
  readonly days: number;
  readonly label: string | null;
  readonly note: string;
  readonly limits: RateLimits | null;
  readonly is_for_new: boolean;
  readonly is_usable: boolean;
}

async function lockVoucher(transaction: EntityManager, typedCode: string): Promise<LockedVoucher | undefined> {
  const [row] = await transaction.execute<(Omit<LockedVoucher, 'limits'> & { readonly limits: string | null })[]>(
    `select v.id, v.hint, v.account_id, v.order_id, coalesce(b.days, o.days) as days, coalesce(b.label, o.label) as label,
       coalesce(b.note, o.code) as note, coalesce(b.is_for_new, false) as is_for_new, o.limits::text as limits,
       v.redeemed_at is null and v.revoked_at is null and ${voucherExpiry} > clock_timestamp() as is_usable
     from ${vouchersWithTerms} where v.sha256 = decode(?, 'hex') for update of v`,
    [computeDigest(normalizeCode(typedCode))],
  );
  return row && { ...row, limits: row.limits === null ? null : JSON.parse(row.limits) };
}

/** Each voucher `v` with its batch `b` or, for a gift, its order `o`. */
export const vouchersWithTerms = `voucher v left join voucher_batch b on b.id = v.batch_id left join plan_order o on o.id = v.order_id`;

export const voucherExpiry = 'coalesce(b.expires_at, v.expires_at)'; // for rows of `vouchersWithTerms`

async function findPeriod(transaction: EntityManager, voucherId: string): Promise<Omit<Redemption, 'isNew'>> {
  const [period] = await transaction.execute<Row<typeof PlanPeriodSchema, 'days' | 'starts_at' | 'ends_at'>[]>(
    `select days, ${epochs('starts_at', 'ends_at')} from plan_period where voucher_id = ?`,
    [voucherId],
  );
  if (period === undefined) throw new Error(`voucher ${voucherId} has added no days`);
  return toRecord(period);
}

/** The caller must hold the account's lock. */
async function isNewAccount(transaction: EntityManager, accountId: string): Promise<boolean> {
  const periods = await transaction.execute<unknown[]>(
    `select 1 from plan_period where account_id = ? and reason in ('order', 'voucher', 'gift') limit 1`,
    [accountId],
  );
  return periods.length === 0;
}

async function countAttempt({ shared }: Pick<Host, 'shared'>, accountId: string, address: string): Promise<void> {
  const keys = [
    [`voucher:account:${accountId}`, maxAttempts.account],
    [`voucher:network:${parseNetwork(address)}`, maxAttempts.network],
  ] as const;
  for (const [key, limit] of keys) {
    const wait = await takeRequest(shared, key, { limit, period: hourSeconds, burst: limit });
    if (wait !== undefined)
      throw new VoucherError('too_many_attempts', 'Too many codes were tried within an hour.', wait);
  }
}

function createCode(): string {
  return encodeCode(randomBytes(codeLength));
}

/** @param bytes at least 16, random */
export function encodeCode(bytes: Buffer): string {
  // 256 is a multiple of 32, so every character is equally likely.
  return Array.from(bytes.subarray(0, codeLength), (byte) => alphabet[byte % alphabet.length]).join('');
}

export function formatCode(code: string): string {
  return code.replace(/.{4}(?=.)/g, '$&-');
}

export function normalizeCode(typedCode: string): string {
  return typedCode
    .slice(0, 100)
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
}

export function computeDigest(code: string): string {
  return createHash('sha256').update(code).digest('hex');
}
