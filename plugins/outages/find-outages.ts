import { randomUUIDv7 } from 'node:crypto';
import type { Host } from '#core/gateway/host/host.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { buildEarlierFailureCondition, failureCondition } from './evidence.ts';
import { outagesSection } from './section.ts';

const recordDelay = `interval '10 minutes'`; // request records arrive late
const maxIncidentAge = `interval '3 days'`; // incidents that ended earlier are ignored
const leadTime = `interval '10 minutes'`; // failures that revealed an incident may come this long before its start
const minAccounts = 2; // if no probe failed, so that one account's unusual requests earn no credit

/**
 * Finds and stores the outages of ended incidents, once per incident even if several instances run this. An outage is a run of failed
 * requests with no answered request in between, which means that all routes were down. The probe that confirmed an incident counts as a
 * failed request. An outage is confirmed by such a probe, or by enough accounts that had no failures before the incident was opened; the
 * others may have caused it themselves.
 */
export async function findOutages({ database, section }: Pick<Host, 'database' | 'section'>): Promise<void> {
  const { from_minutes: minMinutes } = section(outagesSection);
  await database.fork().transactional(async (transaction) => {
    await transaction.execute(`select pg_advisory_xact_lock(hashtext('find-outages'))`);
    const outages = await transaction.execute<
      { incident_id: string; model: string; from_at: number; until_at: number; is_confirmed: boolean }[]
    >(
      `with ended as (
         select id, model, started_at, opened_at, ended_at, confirmed_at from incident i
         where i.kind = 'down' and i.opened_at is not null
           and i.ended_at between statement_timestamp() - ${maxIncidentAge} and statement_timestamp() - ${recordDelay}
           and not exists (select from outage o where o.incident_id = i.id)
       ), results as materialized (
         select i.id, i.model, i.opened_at, r.account_id, false as is_probe,
           r.started_at + coalesce(r.first_content_ms, r.duration_ms, 0) * interval '1 millisecond' as at,
           r.outcome = 'answered' and r.cache is distinct from 'hit' as is_served,
           ${failureCondition} as is_failed
         from ended i cross join lateral (
           -- OFFSET 0 prevents flattening, so only the time range of each incident is scanned.
           select * from request_log r where r.started_at between i.started_at - ${leadTime} and i.ended_at
             and coalesce(r.alias_of, r.model) = i.model and r.is_metered offset 0
         ) r
         union all
         select id, model, opened_at, null, true, confirmed_at, false, true from ended where confirmed_at is not null
       ), runs as (
         select *, count(*) filter (where is_served) over (partition by id order by at, is_served desc rows unbounded preceding) as run
         from results where is_served or is_failed
       )
       select id as incident_id, model, ${epoch('min(at)')} as from_at, ${epoch('max(at)')} as until_at,
         bool_or(is_probe) or (
           select count(*) from unnest(array_agg(distinct account_id)) as affected (account_id)
           where account_id is not null and not ${buildEarlierFailureCondition('affected.account_id', 'runs.model', 'runs.opened_at')}
         ) >= ${minAccounts} as is_confirmed
       from runs where is_failed group by id, model, opened_at, run
       having max(at) - min(at) >= make_interval(mins => ?)
         and (count(distinct account_id) >= ${minAccounts} or bool_or(is_probe))`,
      [minMinutes],
    );
    for (const { incident_id: incidentId, model, from_at: from, until_at: until, is_confirmed: isConfirmed } of outages)
      await transaction.execute(
        `insert into outage (id, incident_id, model, from_at, until_at, is_confirmed)
         values (?, ?, ?, to_timestamp(?::float8 / 1000), to_timestamp(?::float8 / 1000), ?)`,
        [randomUUIDv7(), incidentId, model, from, until, isConfirmed],
      );
  });
}
