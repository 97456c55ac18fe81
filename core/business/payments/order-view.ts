import type { Queries } from '#core/platform/database/database.ts';
import { listOrders, type Order } from './order.ts';

/**
 * An order's state as its buyer sees it. `preparing`: cannot be paid yet. `waiting`: can be paid. `seen`: a payment was reported and is
 * being processed. `wrong`: a wrong payment waits for an operator's decision. `decided`: a wrong amount was paid, an operator has decided,
 * and nothing remains to be done. For the others, see `OrderState`.
 */
export type OrderView =
  | 'preparing'
  | 'waiting'
  | 'seen'
  | 'expired'
  | 'failed'
  | 'cancelled'
  | 'wrong'
  | 'decided'
  | 'paid'
  | 'refunded';

// A payment can still change these without an operator.
const openViews = new Set<OrderView>(['preparing', 'waiting', 'seen', 'expired', 'failed', 'cancelled']);

export function isOpenView(view: OrderView): boolean {
  return openViews.has(view);
}

/** @param isSeen true if a notification about the order is being processed */
export function determineOrderView(order: Order, { isSeen = false }: { readonly isSeen?: boolean } = {}): OrderView {
  const { state, flags, attempt, expiresAt, readAt } = order;
  if (state === 'paid' || state === 'refunded') return state;
  if (flags.some(({ kind, resolvedAt }) => isWrongPayment(kind) && resolvedAt === undefined)) return 'wrong';
  if (isSeen) return 'seen';
  if (isDecided(order)) return 'decided';
  if (state === 'expired' || state === 'failed' || state === 'cancelled') return state;
  if (expiresAt <= readAt) return 'expired';
  if (attempt?.charge === 'rejected') return 'failed';
  return state === 'pending' && attempt?.charge === 'created' ? 'waiting' : 'preparing';
}

function isDecided({ state, flags, payments }: Order): boolean {
  if (state !== 'expired' && state !== 'failed' && state !== 'cancelled') return false;
  // The caller has ruled out open flags.
  return flags.some(({ kind }) => isWrongPayment(kind)) && payments.some(({ outcome }) => isWrongPayment(outcome));
}

/** Returns true for flags and payment outcomes of the kind `wrong_…`: amount, currency or charge. */
export function isWrongPayment(name: string): boolean {
  return name.startsWith('wrong_');
}

export async function readOrderView(order: Order, database: Queries): Promise<OrderView> {
  const view = determineOrderView(order);
  return isOpenView(view) ? determineOrderView(order, { isSeen: await isPaymentSeen(database, order.id) }) : view;
}

const maxRecentOrders = 10;

/** An order that its buyer can pay now or soon, or whose wrong payment awaits a decision. */
export interface OpenOrder {
  readonly order: Order;
  readonly view: OrderView;
}

/** Finds a buyer's newest open order. */
export async function findOpenOrder(database: Queries, accountId: string): Promise<OpenOrder | undefined> {
  const { orders } = await listOrders(database, { accountId }, undefined, maxRecentOrders);
  const order = orders.find((candidate) => ['waiting', 'preparing', 'wrong'].includes(determineOrderView(candidate)));
  return order && { order, view: await readOrderView(order, database) };
}

/** While this is true, the page keeps the buyer from paying twice. */
async function isPaymentSeen(database: Queries, orderId: string): Promise<boolean> {
  const [row] = await database.query<{ is_seen: boolean }>(
    `select exists (
       select 1 from payment_notification n join payment_attempt a on a.reference = n.reference
       where n.next_try_at is not null and a.order_id = ?
     ) as is_seen`,
    [orderId],
  );
  return row?.is_seen === true;
}
