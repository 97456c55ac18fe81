import { AccountError } from '#core/business/accounts/account-error.ts';
import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { addDays, lockAccount } from '#core/business/accounts/ledger.ts';
import { periodsInForceSql } from '#core/business/accounts/periods-in-force.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { findModelName } from '#core/gateway/records/model-names.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { toRecord } from '#core/platform/database/rows.ts';

interface Outage {
  readonly since: number; // epoch ms
  readonly until: number;
  readonly model?: string | undefined; // only accounts that requested it during the outage; default: all with paid time then
}

/** @throws AccountError `span` unless `since` is before `until`; `not_found` for a model that never existed */
export async function parseOutage(
  host: Pick<Host, 'catalog' | 'database'>,
  times: { readonly since: string; readonly until: string; readonly model?: string | undefined },
): Promise<Outage> {
  const [since, until] = [Date.parse(times.since), Date.parse(times.until)];
  if (!(since < until)) throw new AccountError('span', 'The start must be before the end.');
  if (times.model === undefined) return { since, until };
  const model = await findModelName(host, times.model);
  if (model === undefined) throw new AccountError('not_found', `Model "${times.model}" not found.`);
  return { since, until, model };
}

export type AffectedAccount = Pick<AccountRecord, 'id' | 'name' | 'email'>;

export async function findAffectedAccounts(
  database: Queries,
  { since, until, model }: Outage,
): Promise<AffectedAccount[]> {
  const [condition, values] =
    model === undefined
      ? [
          `exists (select from ${periodsInForceSql} p where p.account_id = a.id
             and p.starts_at < to_timestamp(? / 1000.0) and p.ends_at > to_timestamp(? / 1000.0))`,
          [until, since],
        ]
      : [
          `exists (select from request_log r where r.account_id = a.id and r.started_at >= to_timestamp(? / 1000.0)
             and r.started_at < to_timestamp(? / 1000.0) and coalesce(r.alias_of, r.model) = ?)`,
          [since, until, model],
        ];
  const rows = await database.query<{ id: string; name: string; email: string | null }>(
    `select a.id, a.name, a.email from account a
     where a.blocked_at is null and a.deleted_at is null and ${condition} order by a.id`,
    values,
  );
  return rows.map(toRecord);
}

export interface OutageResult {
  readonly granted: number;
  readonly skipped: number; // accounts already granted days under this note
  readonly failed: readonly { readonly account: string; readonly message: string }[];
}

/** Includes revoked grants: running the same note again must not give back days that an operator has revoked. */
const selectGrant = `select 1 from plan_period where account_id = ? and reason = 'grant' and note = ? limit 1`;

export async function hasGrant(
  { database }: Pick<Host, 'database'>,
  accountId: string,
  note: string,
): Promise<boolean> {
  return (await database.query(selectGrant, [accountId, note])).length > 0;
}

/**
 * Idempotent per note. Returns false if days were already granted, or the account has been blocked or deleted since.
 *
 * @throws AccountError `too_many_days`
 */
export async function grantForOutage(
  { database }: Pick<Host, 'database'>,
  accountId: string,
  grant: { readonly days: number; readonly note: string; readonly label: string },
): Promise<boolean> {
  return database.fork().transactional(async (transaction) => {
    const { blockedAt, deletedAt } = await lockAccount(transaction, accountId);
    if (blockedAt !== undefined || deletedAt !== undefined) return false;
    const [existingGrant] = await transaction.execute<unknown[]>(selectGrant, [accountId, grant.note]);
    if (existingGrant !== undefined) return false;
    await addDays(transaction, accountId, { ...grant, reason: 'grant' });
    return true;
  });
}
