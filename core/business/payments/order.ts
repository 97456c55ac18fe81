import { randomInt } from 'node:crypto';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { severeFlagKinds } from './flags.ts';
import { orderColumns, type OrderRow, toOrder } from './order-row.ts';
import type { Order, OrderState } from './order-types.ts';

export type { Order, OrderFlag, OrderRefund, OrderState, Payment } from './order-types.ts';
export { computeRefundable } from './order-types.ts';

/** Selects orders to list. Times are creation times. */
export interface OrderFilter {
  readonly accountId?: string | undefined;
  /**
   * Part of the order's code, or of the account's name or email address (case is ignored); a complete reference or payment id of the
   * provider; or an amount requested or paid, optionally with the minute: `95.000 20:14`.
   */
  readonly words?: string | undefined;
  readonly timeZone?: string | undefined; // for the minute in `words`; default: UTC
  readonly state?: OrderState | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined; // exclusive
  readonly isFlagged?: boolean | undefined; // true: only orders with an unresolved flag; false: all others
  /** True: orders with problems come first, then the newest. Use it only for a few days of orders, because all of them are evaluated. */
  readonly isWorstFirst?: boolean | undefined;
}

interface OrderPage {
  readonly orders: readonly Order[];
  readonly next: string | undefined;
}

const maxPageSize = 1_000;

/** @param accountId the account that must own the order; default: any */
export async function readOrder(
  database: Queries,
  handle: { readonly id: string } | { readonly code: string },
  accountId?: string,
): Promise<Order | undefined> {
  if ('id' in handle && !uuid.test(handle.id)) return undefined;
  const [condition, value] =
    'id' in handle ? ['o.id = ?', handle.id] : ['o.code = ?', handle.code.trim().toUpperCase()];
  const [row] = await database.query<OrderRow>(`select ${orderColumns} from plan_order o where ${condition}`, [value]);
  if (row === undefined || (accountId !== undefined && row.account_id !== accountId)) return undefined;
  return toOrder(row);
}

/** @param ids UUIDs; ids that do not belong to an order are skipped */
export async function readOrderCodes(database: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<Pick<OrderRow, 'id' | 'code'>>(
    'select id, code from plan_order where id in (select value::uuid from json_array_elements_text(?))',
    [JSON.stringify(ids)],
  );
  return new Map(rows.map(({ id, code }) => [id, code]));
}

/**
 * @param cursor `next` of the previous page
 * @param limit at most 1,000
 */
export async function listOrders(
  database: Queries,
  filter: OrderFilter,
  cursor: string | undefined,
  limit: number,
): Promise<OrderPage> {
  const [conditions, values] = buildConditions(filter, cursor);
  const size = Math.min(limit, maxPageSize);
  const rows = await database.query<OrderRow>(
    `select ${orderColumns} from plan_order o where ${conditions.join(' and ')}
     order by ${filter.isWorstFirst === true ? `${urgencyRankSql('o')}, ` : ''}o.created_at desc, o.id desc limit ?`,
    [...values, size + 1],
  );
  const orders = rows.slice(0, size).map(toOrder);
  return { orders, next: rows.length > size ? orders.at(-1)?.id : undefined };
}

const minuteTolerance = 5; // minutes

/** Parses `95.000`, `Rp 95.000` or `95000 20:14`: an amount in the smallest unit, and the minute of the day. */
function parseAmountAndMinute(words: string): { readonly amount?: string; readonly minute?: number } {
  const [, amount = '', hour, minute] = /^(?:rp\.?\s*)?([\d.,]+)(?:\s+(\d{1,2})[:.](\d\d))?$/i.exec(words.trim()) ?? [];
  const digits = amount.replaceAll(/\D/g, '');
  if (!/^\d{1,15}$/.test(digits)) return {};
  return { amount: digits, ...(hour !== undefined && { minute: Number(hour) * 60 + Number(minute) }) };
}

const openFlagCondition = (order: string, kindCondition = '') =>
  `exists (select 1 from order_flag f where f.order_id = ${order}.id and f.resolved_at is null ${kindCondition})`;

/** 0: money lost. 1: money to decide about. 2: a failed charge or a refund in progress. 3: no problem. */
const urgencyRankSql = (order: string) => `(case
  when ${openFlagCondition(order, `and f.kind in (${severeFlagKinds.map((kind) => `'${kind}'`).join(', ')})`)} then 0
  when ${openFlagCondition(order)} then 1
  when ${order}.state = 'failed' or exists (select 1 from refund r where r.order_id = ${order}.id and r.state in ('asked', 'sent'))
    or ${order}.state in ('created', 'pending') and exists (
      select 1 from payment_attempt e where e.order_id = ${order}.id and e.error is not null) then 2
  else 3 end)`;

const afterUrgentCursorCondition = `exists (select from plan_order c, lateral (select ${urgencyRankSql('c')} as rank) k where c.id::text = ?
  and (${urgencyRankSql('o')} > k.rank or ${urgencyRankSql('o')} = k.rank and (o.created_at, o.id) < (c.created_at, c.id)))`;

function buildConditions(
  { accountId, words, timeZone, state, since, until, isFlagged, isWorstFirst = false }: OrderFilter,
  cursor: string | undefined,
): [string[], unknown[]] {
  const filters: [string, unknown][] = [];
  const addFilter = (condition: string, value: unknown) => {
    if (value !== undefined) filters.push([condition, value]);
  };
  addFilter('o.account_id::text = ?', accountId);
  addFilter('o.state = ?', state);
  addFilter('o.created_at >= to_timestamp(? / 1000.0)', since?.getTime());
  addFilter('o.created_at < to_timestamp(? / 1000.0)', until?.getTime());
  addFilter(
    isWorstFirst
      ? afterUrgentCursorCondition
      : '(o.created_at, o.id) < (select created_at, id from plan_order where id::text = ?)',
    cursor,
  );
  addFilter(
    `exists (select from json_to_record(?::json) as w(words text, amount bigint, minute int, zone text)
         join account a on a.id = o.account_id
       where position(upper(w.words) in o.code) > 0 or position(lower(w.words) in lower(a.email)) > 0
         or position(lower(w.words) in lower(a.name)) > 0
         or exists (select from payment_attempt x where x.order_id = o.id and w.words in (x.reference, x.provider_reference))
         or exists (select from payment x where x.order_id = o.id and x.payment_id = w.words)
         or exists (
           select from (select o.price as amount, o.created_at as at
             union all select x.amount, x.paid_at from payment x where x.order_id = o.id) m
           where m.amount = w.amount and (w.minute is null or (w.minute + ${minuteTolerance} + 1440
             - extract(hour from m.at at time zone w.zone)::int * 60 - extract(minute from m.at at time zone w.zone)::int) % 1440
               <= ${2 * minuteTolerance})))`,
    words === undefined
      ? undefined
      : JSON.stringify({ words, ...parseAmountAndMinute(words), zone: timeZone ?? 'UTC' }),
  );
  const flagCondition = buildFlagCondition(isFlagged);
  return [[flagCondition, ...filters.map(([condition]) => condition)], filters.map(([, value]) => value)];
}

function buildFlagCondition(isFlagged: boolean | undefined): string {
  if (isFlagged === undefined) return 'true';
  return isFlagged ? openFlagCondition('o') : `not ${openFlagCondition('o')}`;
}

const codeCharacters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'; // Crockford's base 32: no letter looks like a digit; codes rarely spell words

/** Generates an order code from 40 random bits. A code must never be reused at the provider. */
export function generateOrderCode(): string {
  return `ORD-${Array.from({ length: 8 }, () => codeCharacters[randomInt(codeCharacters.length)]).join('')}`;
}
