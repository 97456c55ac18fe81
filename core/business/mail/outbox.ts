import type { AccountEventRow } from '#core/business/accounts/entities.ts';
import type { EventName } from '#core/gateway/events/event-handler.ts';
import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type Row, toRecord } from '#core/platform/database/rows.ts';
import type { MailMessage } from './entities.ts';
import { concernsMoney, moneyEvents } from './mails.ts';

/** Parts of the registry that determine which events become messages. */
export interface MessageSources {
  /** Emails to customers, by event. */
  readonly mailKinds?: ReadonlyMap<EventName, MailKind>;
  /** Kinds of problems. Kinds with an `alert` are reported to operators at once. */
  readonly problems?: ReadonlyMap<string, { readonly alert?: { readonly event: EventName } }>;
}

export type Channel = 'customer' | 'operator' | 'webhook';

/** SQL interval: age after which a message is no longer retried. An alert outlasts a weekend without a receiver. */
const maxAgeSql = (channel: string) =>
  `case ${channel} when 'customer' then interval '1 day' else interval '3 days' end`;
/** SQL time at which the message was requested, by its event or by an operator who resends it. */
const requestedAtSql = 'coalesce(m.asked_at, e.created_at)';
/** Time after which a sender counts as dead. Longer than a run with an email that takes the maximum time (`smtpTimeouts`). */
export const leaseSeconds = 20 * 60;
const leaseSql = `make_interval(secs => ${leaseSeconds})`;
/** Maximum tries of an email about money while its delivery is uncertain; then an operator decides. */
export const maxUncertainTries = 3;
const retryDelaySql = `least(interval '30 seconds' * power(2, tries - 1), interval '1 hour')`;
const retentionDays = 90; // longer than an event may wait to be sent

interface ClaimedMessageFields<Event extends EventName> {
  readonly eventId: string;
  readonly event: Event;
  readonly payload: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  /** Earlier tries after which it is unknown whether the message was accepted. */
  readonly uncertainTries: number;
}

export type ClaimedMail = ClaimedMessageFields<EventName> & {
  readonly channel: 'customer';
  readonly accountId: string;
};
export type ClaimedAlert = ClaimedMessageFields<EventName> & { readonly channel: 'operator' | 'webhook' };
export type ClaimedMessage = ClaimedMail | ClaimedAlert;

/** Outcome of a try. `waiting`: it is retried until it is too old. */
export type MailState = 'waiting' | 'sent' | 'skipped' | 'failed' | 'uncertain';

/** Lists the events whose messages are sent first, even if thousands of other messages wait. */
function listUrgentEvents(sources: MessageSources): EventName[] {
  const urgentKinds = sources.mailKinds?.values().filter(({ delivery }) => delivery === 'urgent') ?? [];
  return [...Array.from(urgentKinds, ({ event }) => event), ...listAlertEvents(sources)];
}

function listAlertEvents({ problems }: MessageSources): EventName[] {
  const alerts = problems?.values().flatMap(({ alert }) => (alert === undefined ? [] : [alert.event])) ?? [];
  return ['day.reported', ...alerts];
}

/**
 * SQL condition: this instance supports the event `e` of message `m` on its channel. Its parameter is `listSupportedEvents`. During an
 * update, other instances may support events that this one does not, and send their messages.
 */
export const supportedCondition = `(case m.channel when 'customer' then 'customer' else 'alert' end || ' ' || e.name in (?))`;

/** Lists the events that this instance supports, each with its channel. Never empty. */
export function listSupportedEvents(sources: MessageSources): string[] {
  const mails = Array.from(sources.mailKinds?.keys() ?? [], (event) => `customer ${event}`);
  return [...mails, ...listAlertEvents(sources).map((event) => `alert ${event}`)];
}

/** Adds the missing messages for recent events on these channels. */
export async function collectMessages(
  database: Queries,
  channels: readonly Channel[],
  sources: MessageSources,
): Promise<void> {
  for (const channel of channels) {
    const isCustomer = channel === 'customer';
    const events = isCustomer ? [...(sources.mailKinds?.keys() ?? [])] : listAlertEvents(sources);
    if (events.length === 0) continue;
    await database.query(
      `insert into mail_message (event_id, channel, account_id)
       select e.id, c.channel, ${isCustomer ? 'a.id' : 'null'}
       from (select ?::text as channel) c, account_event e
         ${isCustomer ? `join account a on a.id::text = e.payload ->> 'accountId'` : ''}
       where e.name in (?) and e.created_at > clock_timestamp() - ${maxAgeSql('c.channel')}
         and not exists (select 1 from mail_message m where m.event_id = e.id and m.channel = c.channel)
       order by e.name in (?) desc, e.id limit 1000
       on conflict do nothing`,
      [channel, events, listUrgentEvents(sources)],
    );
  }
}

type ClaimRow = Row<typeof MailMessage, 'event_id' | 'channel' | 'account_id' | 'uncertain_tries'> &
  Row<typeof AccountEventRow, 'created_at'> & { readonly event: EventName; readonly payload: ClaimedMail['payload'] };

/**
 * Claims the first due message, urgent messages before all others, so that only one of several workers sends it. Messages that this
 * instance does not support are left to other instances until they are too old to be sent; then an operator must close them.
 *
 * @param isUrgentOnly true to leave other messages to a different worker
 */
export async function claimMessage(
  database: Queries,
  channels: readonly Channel[],
  sources: MessageSources,
  isUrgentOnly = false,
): Promise<ClaimedMessage | undefined> {
  const urgentEvents = listUrgentEvents(sources);
  const [row] = await database.query<ClaimRow>(
    `with due as (
       select m.event_id, m.channel from mail_message m join account_event e on e.id = m.event_id
       where m.state = 'waiting' and m.next_at <= clock_timestamp() and m.channel in (?)
         and (e.name in (?) or not ?::boolean)
         and (${supportedCondition} or ${requestedAtSql} < clock_timestamp() - ${maxAgeSql('m.channel')})
       order by e.name in (?) desc, m.next_at, m.event_id limit 1 for update of m skip locked
     )
     update mail_message m set state = 'sending', tries = tries + 1, next_at = clock_timestamp() + ${leaseSql}
     from due, account_event e where m.event_id = due.event_id and m.channel = due.channel and e.id = m.event_id
     returning m.event_id::text, m.channel, m.account_id, m.uncertain_tries, e.name as event, e.payload,
       ${epochs('e.created_at')}`,
    [channels, urgentEvents, isUrgentOnly, listSupportedEvents(sources), urgentEvents],
  );
  // `collectMessages` adds a message only on the channel of its event.
  return row && (toRecord(row) as ClaimedMessage);
}

/**
 * Records the outcome of a try. An email about money is retried while its delivery is uncertain, because a second copy is better than none,
 * and mail programs show emails with the same id once. Alerts to the operator are retried for the same reason.
 *
 * @returns the new state of the message; a message that is too old is not retried
 */
export async function finishMessage(
  database: Queries,
  {
    eventId,
    channel,
    event,
    uncertainTries: previousTries,
  }: Pick<ClaimedMessage, 'eventId' | 'channel' | 'event' | 'uncertainTries'>,
  outcome: MailState,
  error?: string,
): Promise<MailState | undefined> {
  const isUncertain = outcome === 'uncertain';
  const canRepeat = channel !== 'customer' || (concernsMoney(event) && previousTries + 1 < maxUncertainTries);
  const state = isUncertain && canRepeat ? 'waiting' : outcome;
  const [row] = await database.query<{ readonly state: MailState }>(
    `with ended as (
       select m.event_id, m.channel,
         case when ? = 'waiting' and ${requestedAtSql} < clock_timestamp() - ${maxAgeSql('m.channel')}
           then ? else ? end as state
       from mail_message m join account_event e on e.id = m.event_id where m.event_id = ? and m.channel = ?
     )
     update mail_message m set state = ended.state, error = ?, next_at = clock_timestamp() + ${retryDelaySql},
       uncertain_tries = uncertain_tries + ?,
       finished_at = case when ended.state = 'waiting' then null else clock_timestamp() end
     from ended where m.event_id = ended.event_id and m.channel = ended.channel and m.state = 'sending' returning m.state`,
    [state, isUncertain ? 'uncertain' : 'failed', state, eventId, channel, error ?? null, Number(isUncertain)],
  );
  return row?.state;
}

interface AbandonedMail {
  readonly eventId: string;
  readonly isRepeated: boolean;
}

/**
 * Ends tries whose sender died, so that it is uncertain whether their messages were sent.
 *
 * @param reason error text for the record
 * @returns the emails to customers among these messages
 */
export async function closeAbandonedTries(database: Queries, reason: string): Promise<AbandonedMail[]> {
  const rows = await database.query<Row<typeof MailMessage, 'event_id' | 'channel' | 'state'>>(
    `with ended as (
       select m.event_id, m.channel, case when m.channel = 'customer'
           and not (coalesce(e.name in (?), false) and m.uncertain_tries + 1 < ${maxUncertainTries}) then 'uncertain' else 'waiting' end as state
       from mail_message m left join account_event e on e.id = m.event_id
       where m.state = 'sending' and m.next_at < clock_timestamp()
     )
     update mail_message m set error = ?, state = ended.state, uncertain_tries = m.uncertain_tries + 1,
       finished_at = case ended.state when 'uncertain' then clock_timestamp() end
     from ended where m.event_id = ended.event_id and m.channel = ended.channel and m.state = 'sending'
     returning m.event_id::text, m.channel, m.state`,
    [moneyEvents, reason],
  );
  return rows.flatMap(({ event_id: eventId, channel, state }) =>
    channel === 'customer' ? [{ eventId, isRepeated: state === 'waiting' }] : [],
  );
}

interface MessageCounts {
  readonly channel: string;
  readonly waiting: number;
  readonly failed: number;
  /** Seconds since the creation of the oldest waiting message that this instance can send; 0 without one. */
  readonly oldest: number;
}

/** Counts messages by channel. Lists only channels with a message that waits or was finished within the last 24 hours. */
export function countMessages(database: Queries, sources: MessageSources): Promise<MessageCounts[]> {
  return database.query(
    `select m.channel, count(*) filter (where m.finished_at is null)::float8 as waiting,
       count(*) filter (where m.state in ('failed', 'uncertain'))::float8 as failed,
       coalesce(extract(epoch from clock_timestamp() - min(m.created_at) filter (where m.finished_at is null and ${supportedCondition})), 0)::float8
         as oldest
     from mail_message m left join account_event e on e.id = m.event_id
     where m.finished_at is null or m.finished_at > clock_timestamp() - interval '1 day'
     group by m.channel order by m.channel`,
    [listSupportedEvents(sources)],
  );
}

export async function removeOldMails(database: Queries): Promise<void> {
  await database.query(
    `delete from mail_message where finished_at < clock_timestamp() - make_interval(days => ${retentionDays})`,
  );
}
