import { ownFaults } from '#core/gateway/facts.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { toRecord } from '#core/platform/database/rows.ts';
import type { ConfirmedOutage } from './credit.ts';

const gatewayFaultCondition = ownFaults.map((fault) => `r.attempts @> '[{"fault": "${fault}"}]'`).join(' or ');

/**
 * SQL condition on request_log row `r`: the routes that tried the request failed, or the gateway process died while serving it. A request that open
 * breakers rejected does not count, because no route tried it. Nor does one with an attempt that failed through the gateway's own fault.
 */
export const failureCondition = `(r.outcome = 'interrupted' or (r.outcome = 'failed'
  and jsonb_typeof(r.attempts) = 'array' and r.attempts <> '[]' and not (${gatewayFaultCondition})))`;

const suspicionPeriod = `interval '1 hour'`; // an account with failures this soon before an incident may have caused it

const maxRequestDuration = `interval '10 minutes'`; // a request that failed during an outage may have started this long before it

/** An account with failures before the incident may have caused it. */
export function buildEarlierFailureCondition(accountId: string, model: string, at: string): string {
  return `exists (select from request_log r where r.account_id = ${accountId} and coalesce(r.alias_of, r.model) = ${model}
    and r.started_at >= ${at} - ${suspicionPeriod} and r.started_at < ${at} and r.is_metered and ${failureCondition})`;
}

export interface OutageWitness {
  readonly accountId: string;
  readonly failures: number;
  readonly hadEarlierFailures: boolean; // in the hour before the incident was opened, so the account may have caused it
}

/** Accounts with earlier failures come first. `limit` is at most 500. */
export async function listWitnesses(
  database: Queries,
  { id }: Pick<ConfirmedOutage, 'id'>,
  limit: number,
): Promise<OutageWitness[]> {
  if (!uuid.test(id)) return [];
  const rows = await database.query<{ account_id: string; failures: number; had_earlier_failures: boolean }>(
    `with affected as (
       select r.account_id, o.model, coalesce(i.opened_at, o.from_at) as opened_at, count(*)::float8 as failures
       from outage o left join incident i on i.id = o.incident_id cross join lateral (
         -- A request that failed during the outage may have started before it. OFFSET 0 stops the planner from flattening the
         -- subquery, so that only this period is scanned.
         select * from request_log r where r.started_at between o.from_at - ${maxRequestDuration} and o.until_at
           and r.started_at + coalesce(r.first_content_ms, r.duration_ms, 0) * interval '1 millisecond' between o.from_at and o.until_at
           and coalesce(r.alias_of, r.model) = o.model and r.is_metered and r.account_id is not null offset 0
       ) r
       where o.id = ? and ${failureCondition} group by r.account_id, o.model, i.opened_at, o.from_at
     )
     select account_id, failures, ${buildEarlierFailureCondition('affected.account_id', 'affected.model', 'affected.opened_at')} as had_earlier_failures
     from affected order by had_earlier_failures desc, failures desc, account_id limit ?`,
    [id, Math.min(limit, 500)],
  );
  return rows.map(toRecord);
}
