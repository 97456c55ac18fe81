import { ownFaults } from '#core/gateway/facts.ts';
import type { Database } from '#core/platform/database/database.ts';
import { uuid } from '#core/platform/database/database.ts';
import { toRecord } from '#core/platform/database/rows.ts';
import type { ConfirmedOutage } from './credit.ts';

const isOwn = ownFaults.map((fault) => `r.attempts @> '[{"fault": "${fault}"}]'`).join(' or ');

/**
 * True if routes failed the request of record `r`, or its gateway died. A request rejected by an open breaker was not sent to any route: it
 * shows only that earlier ones failed.
 */
export const isFailure = `(r.outcome = 'interrupted' or (r.outcome = 'failed'
  and jsonb_typeof(r.attempts) = 'array' and r.attempts <> '[]' and not (${isOwn})))`;

/** Time before an incident is opened in which a failing account may be its cause. */
const suspicion = `interval '1 hour'`;

/** Builds the SQL condition: the account had failures of a model shortly before `at`, so it may have caused what was seen then. */
export function hadFailed(accountId: string, model: string, at: string): string {
  return `exists (select from request_log r where r.account_id = ${accountId} and coalesce(r.alias_of, r.model) = ${model}
    and r.started_at >= ${at} - ${suspicion} and r.started_at < ${at} and r.is_metered and ${isFailure})`;
}

/** An account whose requests failed in an outage. */
export interface OutageWitness {
  readonly accountId: string;
  readonly failures: number;
  /** True if it failed before the incident was opened, which it may have caused. */
  readonly hadFailedBefore: boolean;
}

/** Lists the accounts whose requests failed in an outage; those with earlier failures come first. @param limit at most 500 */
export async function listWitnesses(
  database: Pick<Database, 'query'>,
  { id }: Pick<ConfirmedOutage, 'id'>,
  limit: number,
): Promise<OutageWitness[]> {
  if (!uuid.test(id)) return [];
  const rows = await database.query<{ account_id: string; failures: number; had_failed_before: boolean }>(
    `with felt as (
       select r.account_id, o.model, coalesce(i.opened_at, o.from_at) as opened_at, count(*)::float8 as failures
       from outage o left join incident i on i.id = o.incident_id cross join lateral (
         -- The failures that have ended in it began earlier. With the offset, only its time is read.
         select * from request_log r where r.started_at between o.from_at - interval '10 minutes' and o.until_at
           and r.started_at + coalesce(r.first_content_ms, r.duration_ms, 0) * interval '1 millisecond' between o.from_at and o.until_at
           and coalesce(r.alias_of, r.model) = o.model and r.is_metered and r.account_id is not null offset 0
       ) r
       where o.id = ? and ${isFailure} group by r.account_id, o.model, i.opened_at, o.from_at
     )
     select account_id, failures, ${hadFailed('felt.account_id', 'felt.model', 'felt.opened_at')} as had_failed_before
     from felt order by had_failed_before desc, failures desc, account_id limit ?`,
    [id, Math.min(limit, 500)],
  );
  return rows.map(toRecord);
}
