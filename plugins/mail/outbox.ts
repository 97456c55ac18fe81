import type { AccountEventRow } from '#core/business/accounts/entities.ts';
import type { EventName } from '#core/gateway/events/event-handler.ts';
import type { Database } from '#core/platform/database/database.ts';
import { epochs, type Row, toRecord } from '#core/platform/database/rows.ts';
import type { MailMessage } from './entities.ts';

type Queries = Pick<Database, 'query'>;

/** Events that customers get a mail about. */
export const mailedEvents = [
  'order.paid',
  'payment.refunded',
  'plan.ending',
  'plan.ended',
  'session.created',
  'key.rotated',
  'account.email_changed',
  'announcement.published',
  'place.reserved',
  'outage.credited',
] as const satisfies readonly EventName[];

/** Events that the operator is alerted to. */
export const alertEvents = [
  'order.flagged',
  'payment.unknown',
  'payments.delayed',
  'day.reported',
] as const satisfies readonly EventName[];

export type MailedEvent = (typeof mailedEvents)[number];
export type AlertEvent = (typeof alertEvents)[number];
export type Channel = 'customer' | 'operator' | 'webhook';

/** Age after which a message is no longer retried: an alert outlasts a weekend without a receiver. */
const longestAge = (channel: string) =>
  `case ${channel} when 'customer' then interval '1 day' else interval '3 days' end`;
/** Time after which a sender counts as dead. Longer than a message may take. */
const lease = `interval '5 minutes'`;
/** Wait before the second try, doubled for each further one, at most an hour. */
const retryPause = `least(interval '30 seconds' * power(2, tries - 1), interval '1 hour')`;
/** Days for which sent messages are kept; longer than an event may be sent. */
const keptDays = 90;

/** A message that this process has claimed: no other process sends it. */
interface Claimed<Event extends EventName> {
  readonly eventId: string;
  readonly event: Event;
  /** Payload of the event. */
  readonly payload: Readonly<Record<string, string>>;
  readonly createdAt: Date;
}

export type ClaimedMail = Claimed<MailedEvent> & { readonly channel: 'customer'; readonly accountId: string };
export type ClaimedAlert = Claimed<AlertEvent> & { readonly channel: 'operator' | 'webhook' };
export type ClaimedMessage = ClaimedMail | ClaimedAlert;

/** The outcome of a try. `waiting`: it is retried until it is too old. */
export type MailState = 'waiting' | 'sent' | 'skipped' | 'failed' | 'uncertain';

/** Adds a message on each of these channels for each recent event that has none there. */
export async function collectMessages(database: Queries, channels: readonly Channel[]): Promise<void> {
  for (const channel of channels) {
    const isCustomer = channel === 'customer';
    await database.query(
      `insert into mail_message (event_id, channel, account_id)
       select e.id, c.channel, ${isCustomer ? 'a.id' : 'null'}
       from (select ?::text as channel) c, account_event e
         ${isCustomer ? `join account a on a.id::text = e.payload ->> 'accountId'` : ''}
       where e.name in (?) and e.created_at > clock_timestamp() - ${longestAge('c.channel')}
         and not exists (select 1 from mail_message m where m.event_id = e.id and m.channel = c.channel)
       order by e.id limit 1000
       on conflict do nothing`,
      [channel, isCustomer ? mailedEvents : alertEvents],
    );
  }
}

/** Claims the message that is due first, before it is sent: of several workers one gets it. */
export async function claimMessage(
  database: Queries,
  channels: readonly Channel[],
): Promise<ClaimedMessage | undefined> {
  const [row] = await database.query<ClaimRow>(
    `with due as (
       select event_id, channel from mail_message
       where state = 'waiting' and next_at <= clock_timestamp() and channel in (?)
       order by next_at, event_id limit 1 for update skip locked
     )
     update mail_message m set state = 'sending', tries = tries + 1, next_at = clock_timestamp() + ${lease}
     from due, account_event e where m.event_id = due.event_id and m.channel = due.channel and e.id = m.event_id
     returning m.event_id::text, m.channel, m.account_id, e.name as event, e.payload,
       ${epochs('e.created_at')}`,
    [channels],
  );
  // The outbox adds only events of its channel.
  return row && (toRecord(row) as ClaimedMessage);
}

type ClaimRow = Row<typeof MailMessage, 'event_id' | 'channel' | 'account_id'> &
  Row<typeof AccountEventRow, 'created_at'> & { readonly event: MailedEvent; readonly payload: ClaimedMail['payload'] };

/** Records how a try has ended. @returns the state of the message: one that is too old is not tried again */
export async function finishMessage(
  database: Queries,
  { eventId, channel }: Pick<ClaimedMessage, 'eventId' | 'channel'>,
  state: MailState,
  error?: string,
): Promise<MailState | undefined> {
  const [row] = await database.query<{ readonly state: MailState }>(
    `with ended as (
       select m.event_id, m.channel,
         case when ? = 'waiting' and e.created_at < clock_timestamp() - ${longestAge('m.channel')} then 'failed' else ? end as state
       from mail_message m join account_event e on e.id = m.event_id where m.event_id = ? and m.channel = ?
     )
     update mail_message m set state = ended.state, error = ?, next_at = clock_timestamp() + ${retryPause},
       finished_at = case when ended.state = 'waiting' then null else clock_timestamp() end
     from ended where m.event_id = ended.event_id and m.channel = ended.channel and m.state = 'sending' returning m.state`,
    [state, state, eventId, channel, error ?? null],
  );
  return row?.state;
}

/**
 * Ends the tries of senders that died. A customer's mail may have been sent and is not repeated; an alert is sent again, because
 * the operator would rather read it twice than never.
 *
 * @returns the ids of the customers' mails
 */
export async function closeAbandoned(database: Queries): Promise<string[]> {
  const rows = await database.query<Row<typeof MailMessage, 'event_id' | 'channel'>>(
    `update mail_message set error = 'the gateway stopped while it was sent',
       state = case channel when 'customer' then 'uncertain' else 'waiting' end,
       finished_at = case channel when 'customer' then clock_timestamp() end
     where state = 'sending' and next_at < clock_timestamp() returning event_id::text, channel`,
  );
  return rows.flatMap((row) => (row.channel === 'customer' ? [row.event_id] : []));
}

/** What waits and what has failed on one channel. */
export interface MessageCounts {
  readonly channel: string;
  readonly waiting: number;
  /** In the last 24 hours. */
  readonly failed: number;
  /** Seconds since the oldest waiting message was made; 0 without any. */
  readonly oldest: number;
}

/** Counts each channel that has had a message in the last 24 hours, or has one that waits. */
export function countMessages(database: Queries): Promise<MessageCounts[]> {
  return database.query(
    `select channel, count(*) filter (where finished_at is null)::float8 as waiting,
       count(*) filter (where state in ('failed', 'uncertain'))::float8 as failed,
       coalesce(extract(epoch from clock_timestamp() - min(created_at) filter (where finished_at is null)), 0)::float8 as oldest
     from mail_message where finished_at is null or finished_at > clock_timestamp() - interval '1 day'
     group by channel order by channel`,
  );
}

export async function removeOldMails(database: Queries): Promise<void> {
  await database.query(
    `delete from mail_message where finished_at < clock_timestamp() - make_interval(days => ${keptDays})`,
  );
}
