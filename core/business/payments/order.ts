import { randomInt } from 'node:crypto';
import type { Database } from '#core/platform/database/database.ts';
import { orderColumns, type OrderRow, toOrder } from './order-row.ts';
import type { Order, OrderState } from './order-types.ts';

export type {
  DaysBack,
  FlagKind,
  Order,
  OrderFlag,
  OrderRefund,
  OrderState,
  Payment,
  PaymentAttempt,
  PaymentOutcome,
} from './order-types.ts';
export { refundable } from './order-types.ts';

/** Which orders to list. Times are those of creation. */
export interface OrderFilter {
  readonly accountId?: string | undefined;
  /** A part of the order's code, or of the name or the e-mail address of its account, in any case. */
  readonly words?: string | undefined;
  readonly state?: OrderState | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined; // exclusive
  /** True: those with an unresolved flag. */
  readonly isFlagged?: boolean | undefined;
}

/** Orders, newest first. */
export interface OrderPage {
  readonly orders: readonly Order[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: string | undefined;
}

type Reader = Pick<Database, 'query'>;

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const largestPage = 1_000;

/** Reads one order. @param accountId reads it only when it belongs to this account */
export async function readOrder(
  database: Reader,
  by: { readonly id: string } | { readonly code: string },
  accountId?: string,
): Promise<Order | undefined> {
  if ('id' in by && !uuid.test(by.id)) return undefined;
  const [condition, value] = 'id' in by ? ['o.id = ?', by.id] : ['o.code = ?', by.code.trim().toUpperCase()];
  const [row] = await database.query<OrderRow>(`select ${orderColumns} from plan_order o where ${condition}`, [value]);
  if (row === undefined || (accountId !== undefined && row.account_id !== accountId)) return undefined;
  return toOrder(row);
}

/** Lists orders, newest first. @param cursor `next` of the page before; @param limit at most 1,000 */
export async function listOrders(
  database: Reader,
  filter: OrderFilter,
  cursor: string | undefined,
  limit: number,
): Promise<OrderPage> {
  const [conditions, values] = conditionsOf(filter, cursor);
  const size = Math.min(limit, largestPage);
  const rows = await database.query<OrderRow>(
    `select ${orderColumns} from plan_order o where ${conditions.join(' and ')}
     order by o.created_at desc, o.id desc limit ?`,
    [...values, size + 1],
  );
  const orders = rows.slice(0, size).map(toOrder);
  return { orders, next: rows.length > size ? orders.at(-1)?.id : undefined };
}

function conditionsOf(
  { accountId, words, state, since, until, isFlagged }: OrderFilter,
  cursor: string | undefined,
): [string[], unknown[]] {
  const wanted: [string, unknown][] = [];
  const want = (condition: string, value: unknown) => value !== undefined && wanted.push([condition, value]);
  want('o.account_id::text = ?', accountId);
  want('o.state = ?', state);
  want('o.created_at >= to_timestamp(? / 1000.0)', since?.getTime());
  want('o.created_at < to_timestamp(? / 1000.0)', until?.getTime());
  want('(o.created_at, o.id) < (select created_at, id from plan_order where id::text = ?)', cursor);
  want(
    `exists (select from (select ?::text as words) w join account a on a.id = o.account_id
       where position(upper(w.words) in o.code) > 0 or position(lower(w.words) in lower(a.email)) > 0
         or position(lower(w.words) in lower(a.name)) > 0)`,
    words,
  );
  const flagged = 'exists (select 1 from order_flag f where f.order_id = o.id and f.resolved_at is null)';
  const fixed = isFlagged === undefined ? ['true'] : [isFlagged ? flagged : `not ${flagged}`];
  return [[...fixed, ...wanted.map(([condition]) => condition)], wanted.map(([, value]) => value)];
}

/** Crockford's base 32: no letter looks like a digit, and none spells a word with I, L, O or U. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Generates the code of an order: 40 random bits, never reused at the provider. */
export function generateOrderCode(): string {
  return `ORD-${Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('')}`;
}
