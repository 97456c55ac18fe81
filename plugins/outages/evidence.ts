import { ownFaults } from '#core/gateway/facts.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { toRecord } from '#core/platform/database/rows.ts';
import type { ConfirmedOutage } from './credit.ts';

const ownFaultCondition = ownFaults.map((fault) => `r.attempts @> '[{"fault": "${fault}"}]'`).join(' or ');

/**
 * SQL condition: routes failed the request of record `r`, or its gateway died. A request refused by open breakers does not count, because
 * no route tried it.
 */
export const failureCondition = `(r.outcome = 'interrupted' or (r.outcome = 'failed'
  and jsonb_typeof(r.attempts) = 'array' and r.attempts <> '[]' and not (${ownFaultCondition})))`;

/** Accounts with failures in this period before an incident may have caused it. */
const suspicionPeriod = `interval '1 hour'`;

/** Requests that started this long before an outage may have failed in it. */
const maxRequestDuration = `interval '10 minutes'`;

/** Builds the SQL condition that an account had failures of a model shortly before `at`, so that it may have caused the incident. */
export function buildEarlierFailureCondition(accountId: string, model: string, at: string): string {
  return `exists (select from request_log r where r.account_id = ${accountId} and coalesce(r.alias_of, r.model) = ${model}
    and r.started_at >= ${at} - ${suspicionPeriod} and r.started_at < ${at} and r.is_metered and ${failureCondition})`;
}

/** An account whose requests failed in an outage. */
export interface OutageWitness {
  readonly accountId: string;
  readonly failures: number;
  /** True if it had failures before the incident was opened, so that it may have caused the incident. */
  readonly hadFailedBefore: boolean;
}

/**
 * Lists the accounts whose requests failed in an outage, accounts with earlier failures first.
 *
 * @param limit at most 500
 */
export async function listWitnesses(
  database: Queries,
  { id }: Pick<ConfirmedOutage, 'id'>,
  limit: number,
): Promise<OutageWitness[]> {
  if (!uuid.test(id)) return [];
  const rows = await database.query<{ account_id: string; failures: number; had_failed_before: boolean }>(
    `with affected as (
       select r.account_id, o.model, coalesce(i.opened_at, o.from_at) as opened_at, count(*)::float8 as failures
       from outage o left join incident i on i.id = o.incident_id cross join lateral (
         -- Failures that ended in the outage may have started earlier. OFFSET 0 keeps the subquery, so only this period is scanned.
         select * from request_log r where r.started_at between o.from_at - ${maxRequestDuration} and o.until_at
           and r.started_at + coalesce(r.first_content_ms, r.duration_ms, 0) * interval '1 millisecond' between o.from_at and o.until_at
           and coalesce(r.alias_of, r.model) = o.model and r.is_metered and r.account_id is not null offset 0
       ) r
       where o.id = ? and ${failureCondition} group by r.account_id, o.model, i.opened_at, o.from_at
     )
     select account_id, failures, ${buildEarlierFailureCondition('affected.account_id', 'affected.model', 'affected.opened_at')} as had_failed_before
     from affected order by had_failed_before desc, failures desc, account_id limit ?`,
    [id, Math.min(limit, 500)],
  );
  return rows.map(toRecord);
}
