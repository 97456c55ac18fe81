import type { Host } from '#core/gateway/host/host.ts';
import { findModelName } from '#core/gateway/records/model-names.ts';
import type { Database } from '#core/platform/database/database.ts';
import { toRecord } from '#core/platform/database/rows.ts';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { addDays, lockAccount } from '#core/business/accounts/ledger.ts';
import { periodsInForce } from '#core/business/accounts/periods-in-force.ts';

/** Selects the accounts hit by an outage. */
interface Outage {
  /** Epoch ms. */
  readonly since: number;
  readonly until: number;
  /** Selects only accounts that requested this model in the span; default: all that had paid time in it. */
  readonly model?: string | undefined;
}

/**
 * Parses an outage from the operator's input.
 *
 * @param span RFC 3339
 * @throws AccountError `span`; `not_found` for a model that never existed
 */
export async function readOutage(
  host: Pick<Host, 'catalog' | 'database'>,
  span: { readonly since: string; readonly until: string; readonly model?: string | undefined },
): Promise<Outage> {
  const [since, until] = [Date.parse(span.since), Date.parse(span.until)];
  if (!(since < until)) throw new AccountError('span', 'The beginning of the span must be before its end.');
  if (span.model === undefined) return { since, until };
  const model = await findModelName(host, span.model);
  if (model === undefined) throw new AccountError('not_found', `Model "${span.model}" not found.`);
  return { since, until, model };
}

export interface AffectedAccount {
  readonly id: string;
  readonly name: string;
  readonly email: string | undefined;
}

/** Finds accounts that had paid time in a span, or requested a model in it; blocked and deleted ones are left out. */
export async function findAffected(
  database: Pick<Database, 'query'>,
  { since, until, model }: Outage,
): Promise<AffectedAccount[]> {
  const span = [since, until];
  const [condition, values] =
    model === undefined
      ? [
          `exists (select from ${periodsInForce} p where p.account_id = a.id
             and p.starts_at < to_timestamp(? / 1000.0) and p.ends_at > to_timestamp(? / 1000.0))`,
          span.toReversed(),
        ]
      : [
          `exists (select from request_log r where r.account_id = a.id and r.started_at >= to_timestamp(? / 1000.0)
             and r.started_at < to_timestamp(? / 1000.0) and coalesce(r.alias_of, r.model) = ?)`,
          [...span, model],
        ];
  const rows = await database.query<{ id: string; name: string; email: string | null }>(
    `select a.id, a.name, a.email from account a
     where a.blocked_at is null and a.deleted_at is null and ${condition} order by a.id`,
    values,
  );
  return rows.map(toRecord);
}

/** Result of a grant to all accounts hit by an outage. */
export interface OutageResult {
  readonly granted: number;
  /** Accounts that already had the days of this note. */
  readonly skipped: number;
  readonly failed: readonly { readonly account: string; readonly message: string }[];
}

const grantOf = `select 1 from plan_period where account_id = ? and reason = 'grant' and note = ? limit 1`;

/** True if the account already has the days of this note, so no grant and no record are needed. */
export async function hasGrant(
  { database }: Pick<Host, 'database'>,
  accountId: string,
  note: string,
): Promise<boolean> {
  return (await database.query(grantOf, [accountId, note])).length > 0;
}

/**
 * Grants days to an account for an outage, once: another run with the same note, after a crash or by mistake, has no effect.
 *
 * @param label name of the days shown to the account's owner
 * @returns false if it already had them, or was blocked or deleted meanwhile
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
    const [earlier] = await transaction.execute<unknown[]>(grantOf, [accountId, grant.note]);
    if (earlier !== undefined) return false;
    await addDays(transaction, accountId, { ...grant, reason: 'grant' });
    return true;
  });
}
