import type { AccountEventRow } from '#core/business/accounts/entities.ts';
import type { EventName } from '#core/gateway/events/event-handler.ts';
import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type Row, toRecord } from '#core/platform/database/rows.ts';
import type { MailMessage } from './entities.ts';
import { concernsMoney, moneyEvents } from './mails.ts';

/** The parts of the registry that decide which events become messages. */
export interface MessageSources {
  readonly mailKinds?: ReadonlyMap<EventName, MailKind>; // customer emails, by event
  /** Kinds of problems. Those with an `alert` are reported to operators immediately. */
  readonly problems?: ReadonlyMap<string, { readonly alert?: { readonly event: EventName } }>;
}

export type Channel = 'customer' | 'operator' | 'webhook';

// Maximum age at which a message is still retried. An alert outlasts a weekend during which its receiver is down.
const maxAgeSql = (channel: string) =>
  `case ${channel} when 'customer' then interval '1 day' else interval '3 days' end`;
const requestedAtSql = 'coalesce(m.asked_at, e.created_at)'; // when an operator requested a resend, otherwise when the event occurred
/** Time after claiming a message at which its sender is presumed dead. Longer than the longest possible run (`smtpTimeouts`). */
export const leaseSeconds = 20 * 60;
const leaseSql = `make_interval(secs => ${leaseSeconds})`;
/** Maximum number of tries for an email about money whose delivery is uncertain. After that, an operator decides. */
export const maxUncertainTries = 3;
const retryDelaySql = `least(interval '30 seconds' * power(2, tries - 1), interval '1 hour')`;
const retentionDays = 90; // longer than any event can wait to be sent

interface ClaimedMessageFields<Event extends EventName> {
  readonly eventId: string;
  readonly event: Event;
  readonly payload: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  readonly uncertainTries: number; // earlier tries in which the server may have accepted the message
}

export type ClaimedMail = ClaimedMessageFields<EventName> & {
  readonly channel: 'customer';
  readonly accountId: string;
};
export type ClaimedAlert = ClaimedMessageFields<EventName> & { readonly channel: 'operator' | 'webhook' };
export type ClaimedMessage = ClaimedMail | ClaimedAlert;

/** Result of a try. `waiting`: it will be tried again until it is too old. */
export type MailState = 'waiting' | 'sent' | 'skipped' | 'failed' | 'uncertain';

function listUrgentEvents(sources: MessageSources): EventName[] {
  const urgentKinds = sources.mailKinds?.values().filter(({ delivery }) => delivery === 'urgent') ?? [];
  return [...Array.from(urgentKinds, ({ event }) => event), ...listAlertEvents(sources)];
}

function listAlertEvents({ problems }: MessageSources): EventName[] {
  const alerts = problems?.values().flatMap(({ alert }) => (alert === undefined ? [] : [alert.event])) ?? [];
  return ['day.reported', ...alerts];
}

/**
 * SQL condition that is true if this instance supports event `e` of message `m` on its channel. Its parameter is `listSupportedEvents`.
 * During an update, other instances may support events that this one does not; they send those messages.
 */
export const supportedCondition = `(case m.channel when 'customer' then 'customer' else 'alert' end || ' ' || e.name in (?))`;

/** Lists the events that this instance supports, each with its channel. The list is never empty. */
export function listSupportedEvents(sources: MessageSources): string[] {
  const mails = Array.from(sources.mailKinds?.keys() ?? [], (event) => `customer ${event}`);
  return [...mails, ...listAlertEvents(sources).map((event) => `alert ${event}`)];
}

/** Adds the missing messages about recent events on these channels. */
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
 * Claims the first message that is due, urgent ones before all others, so that only one of several workers sends it. Messages that this
 * instance does not support are left to other instances until they are too old to be sent; then an operator has to close them.
 *
 * @param isUrgentOnly true to leave messages that are not urgent to a different worker
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
  // `collectMessages` adds a message only on the channel that its event belongs to.
  return row && (toRecord(row) as ClaimedMessage);
}

/**
 * Records the result of a try. An email about money is tried again while its delivery is uncertain, because a second copy is better than
 * none, and mail programs show emails with the same id only once. The same goes for alerts to operators.
 *
 * @returns the message's new state; a message that is too old is not tried again
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

/** Ends tries whose sender died. Whether their messages were sent is uncertain. Returns the customer emails among them. */
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
  readonly oldest: number; // age in seconds of the oldest waiting message that this instance can send; 0 if none
}

/** Counts messages by channel. Omits channels where no message is waiting and none was finished within the last 24 hours. */
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
