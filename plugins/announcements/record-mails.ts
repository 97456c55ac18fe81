import type { EntityManager } from '@mikro-orm/postgresql';
import { eventChannel } from '#core/business/accounts/account-events.ts';
import { periodsInForceSql } from '#core/business/accounts/periods-in-force.ts';

const recentUsageDays = 30;

/**
 * Records the event `announcement.published` for each recipient: every account that has an address and current or future paid time and has
 * not unsubscribed. An announcement about a model goes only to accounts that used it recently. This is the bulk version of `recordEvent`.
 *
 * @param model public name
 * @returns the number of recipients
 */
export async function recordMails(
  transaction: Pick<EntityManager, 'execute'>,
  id: string,
  model: string | undefined,
): Promise<number> {
  const [row] = await transaction.execute<{ count: number }[]>(
    `with recorded as (
       insert into account_event (name, payload, dedupe_key)
       select 'announcement.published', jsonb_build_object('accountId', a.id, 'announcementId', ?::text),
         'announcement.published:' || ? || ':' || a.id
       from account a
       where a.email is not null and a.deleted_at is null and a.blocked_at is null and a.unsubscribed_at is null
         and exists (select from ${periodsInForceSql} p where p.account_id = a.id and p.ends_at > clock_timestamp())
         ${model === undefined ? '' : `and (${buildUsageCondition('usage_hour')} or ${buildUsageCondition('usage_delta')})`}
       on conflict (dedupe_key) do nothing returning id
     ), counted as (select count(*)::float8 as count, max(id)::text as last from recorded)
     select count, case when last is null then null else pg_notify('${eventChannel}', last)::text end from counted`,
    [id, id, ...(model === undefined ? [] : [model, model])],
  );
  return row?.count ?? 0;
}

function buildUsageCondition(table: string): string {
  return `exists (select from ${table} u where u.account_id = a.id and u.model = ?
    and u.hour > clock_timestamp() - interval '${recentUsageDays} days')`;
}
