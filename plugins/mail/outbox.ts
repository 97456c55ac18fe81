import type { EventName } from '#core/gateway/events/event-handler.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { AccountEventRow } from '#core/business/accounts/entities.ts';
import { epochs, type Row } from '#core/platform/database/rows.ts';
import type { MailMessage } from './entities.ts';

type Queries = Pick<Database, 'query'>;

/** Events that are mailed. */
export const mailedEvents = [
  'order.paid',
  'plan.ending',
  'plan.ended',
  'session.created',
  'key.rotated',
] as const satisfies readonly EventName[];

export type MailedEvent = (typeof mailedEvents)[number];

/** Age after which a mail is no longer retried. */
const longestAge = `interval '1 day'`;
/** Time after which a sender counts as dead. Longer than a mail may take. */
const lease = `interval '5 minutes'`;
/** Wait before the second try, doubled for each further one, at most an hour. */
const retryPause = `least(interval '30 seconds' * power(2, tries - 1), interval '1 hour')`;
/** Days for which sent mails are kept; longer than an event may be mailed. */
const keptDays = 90;

/** A mail that this process has claimed: no other process sends it. */
export interface ClaimedMail {
  readonly eventId: string;
  readonly accountId: string;
  readonly event: MailedEvent;
  /** Payload of the event. */
  readonly payload: Readonly<Record<string, string>>;
  readonly createdAt: Date;
}

/** The outcome of a try. `waiting`: it is retried until it is a day old. */
export type MailState = 'waiting' | 'sent' | 'skipped' | 'failed' | 'uncertain';

/** Adds a mail for each event of the last day that has none. */
export async function collectMails(database: Queries): Promise<void> {
  await database.query(
    `insert into mail_message (event_id, account_id)
     select e.id, a.id from account_event e join account a on a.id::text = e.payload ->> 'accountId'
     where e.name in (?) and e.created_at > clock_timestamp() - ${longestAge}
       and not exists (select 1 from mail_message m where m.event_id = e.id)
     order by e.id limit 1000
     on conflict do nothing`,
    [mailedEvents],
  );
}

/** Claims the mail that is due first, before it is sent: of several workers one gets it. */
export async function claimMail(database: Queries): Promise<ClaimedMail | undefined> {
  const [row] = await database.query<ClaimRow>(
    `with due as (
       select event_id from mail_message where state = 'waiting' and next_at <= clock_timestamp()
       order by next_at, event_id limit 1 for update skip locked
     )
     update mail_message m set state = 'sending', tries = tries + 1, next_at = clock_timestamp() + ${lease}
     from due, account_event e where m.event_id = due.event_id and e.id = m.event_id
     returning m.event_id::text, m.account_id, e.name, e.payload::text,
       ${epochs('e.created_at')}`,
  );
  if (row === undefined) return undefined;
  return {
    eventId: row.event_id,
    accountId: row.account_id,
    event: row.name,
    payload: JSON.parse(row.payload),
    createdAt: new Date(row.created_at),
  };
}

type ClaimRow = Row<typeof MailMessage, 'event_id' | 'account_id'> &
  Row<typeof AccountEventRow, 'created_at'> & { readonly name: MailedEvent; readonly payload: string };

/** Records how a try has ended. @returns the state of the mail: a day after its event it is not tried again */
export async function finishMail(
  database: Queries,
  eventId: string,
  state: MailState,
  error?: string,
): Promise<MailState | undefined> {
  const [row] = await database.query<{ readonly state: MailState }>(
    `with ended as (
       select m.event_id, case when ? = 'waiting' and e.created_at < clock_timestamp() - ${longestAge} then 'failed' else ? end as state
       from mail_message m join account_event e on e.id = m.event_id where m.event_id = ?
     )
     update mail_message m set state = ended.state, error = ?, next_at = clock_timestamp() + ${retryPause},
       finished_at = case when ended.state = 'waiting' then null else clock_timestamp() end
     from ended where m.event_id = ended.event_id and m.state = 'sending' returning m.state`,
    [state, state, eventId, error ?? null],
  );
  return row?.state;
}

/** Closes mails whose sender died: they may have been sent. @returns their ids */
export async function closeAbandoned(database: Queries): Promise<string[]> {
  const rows = await database.query<Row<typeof MailMessage, 'event_id'>>(
    `update mail_message set state = 'uncertain', error = 'the gateway stopped while it was sent', finished_at = clock_timestamp()
     where state = 'sending' and next_at < clock_timestamp() returning event_id::text`,
  );
  return rows.map((row) => row.event_id);
}

export async function removeOldMails(database: Queries): Promise<void> {
  await database.query(
    `delete from mail_message where finished_at < clock_timestamp() - make_interval(days => ${keptDays})`,
  );
}
