import type { EventName } from '#core/gateway/events/event-handler.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import type { MailMessage, mailStates } from './entities.ts';

/** Events whose emails are about money. Customers need these emails, and no other message replaces them. */
export const moneyEvents = ['order.paid', 'payment.refunded'] as const satisfies readonly EventName[];

export function concernsMoney(event: EventName): boolean {
  return moneyEvents.some((moneyEvent) => moneyEvent === event);
}

/** Number of days for which an undelivered email is listed as needing an operator. */
export const undeliveredDays = 7;

export interface CustomerMail {
  readonly id: string; // id of the event that the email is about
  readonly event: EventName;
  readonly accountId: string;
  readonly orderId: string | undefined;
  readonly order: string | undefined; // the order's code
  readonly state: (typeof mailStates)[number];
  readonly tries: number;
  readonly error: string | undefined; // what the mail server replied, or why the email was not sent
  readonly createdAt: Date;
  readonly nextAt: Date;
  readonly finishedAt: Date | undefined;
}

interface MailFilter {
  readonly accountId?: string;
  readonly orderId?: string;
  readonly isUndelivered?: boolean;
  readonly isAboutMoney?: boolean;
  readonly id?: string;
  readonly after?: string; // id of the last email on the previous page
}

const afterCursorCondition = `(m.created_at, m.event_id) < (
  select created_at, event_id from mail_message where channel = 'customer' and event_id = ?::bigint)`;

const undeliveredCondition = `m.state in ('failed', 'uncertain') and m.finished_at > now() - make_interval(days => ${undeliveredDays})`;

/** Lists customer emails, newest first. */
export async function listMails(
  database: Queries,
  { accountId, orderId, isUndelivered, isAboutMoney, id, after }: MailFilter,
  limit: number,
): Promise<CustomerMail[]> {
  const conditions: (readonly [string, ...unknown[]])[] = [
    ...(accountId === undefined ? [] : [['m.account_id = ?', accountId] as const]),
    ...(orderId === undefined ? [] : [[`e.payload ->> 'orderId' = ?`, orderId] as const]),
    ...(id === undefined ? [] : [['m.event_id = ?::bigint', id] as const]),
    ...(isUndelivered === true ? [[undeliveredCondition] as const] : []),
    ...(after === undefined ? [] : [[afterCursorCondition, after] as const]),
    ...(isAboutMoney === undefined ? [] : [[`(e.name in (?)) = ?::boolean`, moneyEvents, isAboutMoney] as const]),
  ];
  const rows = await database.query<RowOf<CustomerMail, typeof MailMessage>>(
    `select m.event_id::text as id, e.name as event, m.account_id, e.payload ->> 'orderId' as order_id, o.code as "order",
       m.state, m.tries, m.error, ${epochs('m.created_at', 'm.next_at', 'm.finished_at')}
     from mail_message m join account_event e on e.id = m.event_id left join plan_order o on o.id::text = e.payload ->> 'orderId'
     where m.channel = 'customer'${conditions.map(([sql]) => ` and ${sql}`).join('')}
     order by m.created_at desc, m.event_id desc limit ?`,
    [...conditions.flatMap(([, ...values]) => values), limit],
  );
  return rows.map((row) => toRecord(row) as CustomerMail);
}

/** SQL condition that is true if any customer email of the last `undeliveredDays` is undelivered. */
export const hasUndeliveredCondition = `EXISTS (SELECT FROM mail_message m WHERE m.channel = 'customer' AND ${undeliveredCondition})`;

export async function countUndelivered(
  database: Queries,
): Promise<{ readonly money: number; readonly others: number }> {
  const [row] = await database.query<{ money: number; others: number }>(
    `select count(*) filter (where e.name in (?))::float8 as money, count(*) filter (where e.name not in (?))::float8 as others
     from mail_message m join account_event e on e.id = m.event_id where m.channel = 'customer' and ${undeliveredCondition}`,
    [moneyEvents, moneyEvents],
  );
  return row ?? { money: 0, others: 0 };
}

/**
 * Schedules an email to be sent again in the next run. It keeps its Message-ID, so mail programs show only one of two copies.
 *
 * @returns false if the email is being sent right now
 */
export async function resendMail(database: Queries, id: string): Promise<boolean> {
  const rows = await database.query(
    `update mail_message set state = 'waiting', tries = 0, uncertain_tries = 0, error = null, finished_at = null,
       next_at = clock_timestamp(), asked_at = clock_timestamp()
     where event_id = ?::bigint and channel = 'customer' and state <> 'sending' returning event_id`,
    [id],
  );
  return rows.length > 0;
}
