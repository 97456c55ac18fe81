import type { Database } from '#core/platform/database/database.ts';
import type { Canary } from '#core/config/history/canaries.ts';
import { takesAccount } from './share.ts';
import type { ComparedAccount, Counts } from './verdict.ts';

/** Ms before a canary by which accounts are known, at least. */
const shortestPast = 3_600_000;

const nothing: Counts = { requests: 0, failures: 0, refusals: 0, timed: 0, logSum: 0 };

interface CountRow extends Omit<Counts, 'logSum'> {
  readonly account: string;
  readonly is_canary: boolean;
  readonly log_sum: number;
}

/** What accounts sent before a canary began: for as long as it is to run, or for an hour. Does not change while it runs. */
export async function countBefore(
  database: Pick<Database, 'query'>,
  { startedAt, until }: Pick<Canary, 'startedAt' | 'until'>,
): Promise<ReadonlyMap<string, Counts>> {
  const start = startedAt.getTime();
  const rows = await count(database, start - Math.max(shortestPast, until.getTime() - start), start, 0);
  return new Map(rows.map((row) => [row.account, countsOf(row)]));
}

/**
 * What accounts have sent since a canary began, by records: model calls whose end is known. Requests of its accounts that an instance
 * served before it had begun there count for neither side.
 */
export async function countAccounts(
  database: Pick<Database, 'query'>,
  canary: Canary,
  before: ReadonlyMap<string, Counts>,
): Promise<ComparedAccount[]> {
  const rows = await count(database, canary.startedAt.getTime(), undefined, canary.id);
  return rows
    .filter(({ is_canary: isCanary, account }) => isCanary || !takesAccount(canary, account))
    .map((row) => ({ ...countsOf(row), isCanary: row.is_canary, before: before.get(row.account) ?? nothing }));
}

/** @param from epoch ms, as `to` @param canary number of the one whose requests are apart */
function count(
  database: Pick<Database, 'query'>,
  from: number,
  to: number | undefined,
  canary: number,
): Promise<CountRow[]> {
  return database.query<CountRow>(
    `select account_id as account, canary is not distinct from ? as is_canary, count(*)::float8 as requests,
       count(*) filter (where outcome = 'failed')::float8 as failures,
       count(*) filter (where outcome = 'refused')::float8 as refusals,
       count(first_content_ms)::float8 as timed, coalesce(sum(ln(greatest(first_content_ms, 1))), 0)::float8 as log_sum
     from request_log
     where started_at >= to_timestamp(?::float8 / 1000) and started_at < to_timestamp(?::float8 / 1000)
       and is_metered and account_id is not null and outcome <> 'interrupted'
     group by 1, 2`,
    // A time that no request has.
    [canary, from, to ?? 4_102_444_800_000],
  );
}

function countsOf({ requests, failures, refusals, timed, log_sum: logSum }: CountRow): Counts {
  return { requests, failures, refusals, timed, logSum };
}
