import type { Database } from '#core/platform/database/database.ts';
import { epochs, type Row, toRecord } from '#core/platform/database/rows.ts';
import type { EventName } from '#core/gateway/events/event-handler.ts';
import type { MailMessage, mailStates } from './entities.ts';

/** Events whose mails are about money: a customer needs them, and no other message replaces them. */
export const moneyEvents = ['order.paid', 'payment.refunded'] as const satisfies readonly EventName[];

export function concernsMoney(event: EventName): boolean {
  return moneyEvents.some((moneyEvent) => moneyEvent === event);
}

/** How long an undelivered mail is listed as needing an operator, days. */
export const undeliveredDays = 7;

type Queries = Pick<Database, 'query'>;

/** A mail to a customer, with its state. */
export interface CustomerMail {
  /** Id of its event. */
  readonly id: string;
  readonly event: EventName;
  readonly accountId: string;
  readonly orderId: string | undefined;
  /** Code of its order. */
  readonly order: string | undefined;
  /** `sent`: handed to the mail server. */
  readonly state: (typeof mailStates)[number];
  readonly tries: number;
  /** The mail server's response, or why the mail was not sent. */
  readonly error: string | undefined;
  readonly createdAt: Date;
  /** Time of the next try, while it waits. */
  readonly nextAt: Date;
  readonly finishedAt: Date | undefined;
}

interface MailFilter {
  readonly accountId?: string;
  readonly orderId?: string;
  readonly isUndelivered?: boolean;
  readonly isAboutMoney?: boolean;
  readonly id?: string;
  /** Id of the last mail on the previous page. */
  readonly after?: string;
}

/** Lists the mails to customers, the newest first. */
export async function listMails(
  database: Queries,
  { accountId, orderId, isUndelivered, isAboutMoney, id, after }: MailFilter,
  limit: number,
): Promise<CustomerMail[]> {
  const conditions: (readonly [string, ...unknown[]])[] = [
    ...(accountId === undefined ? [] : [['m.account_id = ?', accountId] as const]),
    ...(orderId === undefined ? [] : [[`e.payload ->> 'orderId' = ?`, orderId] as const]),
    ...(id === undefined ? [] : [['m.event_id = ?::bigint', id] as const]),
    ...(isUndelivered === true ? [[undelivered] as const] : []),
    ...(after === undefined ? [] : [[following, after] as const]),
    ...(isAboutMoney === undefined ? [] : [[`(e.name in (?)) = ?::boolean`, moneyEvents, isAboutMoney] as const]),
  ];
  const rows = await database.query<MailRow>(
    `select m.event_id::text as id, e.name as event, m.account_id, e.payload ->> 'orderId' as order_id, o.code as "order",
       m.state, m.tries, m.error, ${epochs('m.created_at', 'm.next_at', 'm.finished_at')}
     from mail_message m join account_event e on e.id = m.event_id left join plan_order o on o.id::text = e.payload ->> 'orderId'
     where m.channel = 'customer'${conditions.map(([sql]) => ` and ${sql}`).join('')}
     order by m.created_at desc, m.event_id desc limit ?`,
    [...conditions.flatMap(([, ...values]) => values), limit],
  );
  return rows.map((row) => toRecord(row) as CustomerMail);
}

const following = `(m.created_at, m.event_id) < (
  select created_at, event_id from mail_message where channel = 'customer' and event_id = ?::bigint)`;

type MailRow = Row<typeof MailMessage, 'state' | 'tries' | 'error' | 'created_at' | 'next_at' | 'finished_at'> & {
  readonly id: string;
  readonly event: EventName;
  readonly account_id: string;
  readonly order_id: string | null;
  readonly order: string | null;
};

const undelivered = `m.state in ('failed', 'uncertain') and m.finished_at > now() - make_interval(days => ${undeliveredDays})`;

/** SQL condition: there are undelivered mails to customers from the last days. */
export const hasUndelivered = `EXISTS (SELECT FROM mail_message m WHERE m.channel = 'customer' AND ${undelivered})`;

/** Counts undelivered mails to customers in the last days, about money and about anything else. */
export async function countUndelivered(
  database: Queries,
): Promise<{ readonly money: number; readonly others: number }> {
  const [row] = await database.query<{ money: number; others: number }>(
    `select count(*) filter (where e.name in (?))::float8 as money, count(*) filter (where e.name not in (?))::float8 as others
     from mail_message m join account_event e on e.id = m.event_id where m.channel = 'customer' and ${undelivered}`,
    [moneyEvents, moneyEvents],
  );
  return row ?? { money: 0, others: 0 };
}

/**
 * Lets a mail be sent again at the next run, with the same Message-ID, so that a mail program with the first copy shows only one.
 *
 * @returns false if it is being sent at the moment
 */
export async function repeatMail(database: Queries, id: string): Promise<boolean> {
  const rows = await database.query(
    `update mail_message set state = 'waiting', tries = 0, uncertain_tries = 0, error = null, finished_at = null,
       next_at = clock_timestamp(), asked_at = clock_timestamp()
     where event_id = ?::bigint and channel = 'customer' and state <> 'sending' returning event_id`,
    [id],
  );
  return rows.length > 0;
}
