/** What the commands do, loaded when one of them runs: MikroORM would slow all other commands down. */
import { findAccountByHandle } from '#core/business/accounts/account-list.ts';
import { readAccounts } from '#core/business/accounts/account-record.ts';
import { listLedger } from '#core/business/accounts/ledger-entries.ts';
import { rangeOfDays } from '#core/platform/database/day-range.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import type { Host } from '#core/gateway/host/host.ts';
import {
  type Order,
  type OrderFilter,
  type OrderState,
  type Payment,
  readOrder,
} from '#core/business/payments/order.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { findOrderOfPayment, paymentToRefund } from '#core/business/payments/refunds.ts';
import { currencySection } from '#core/business/accounts/plans.ts';
import { listAttempts, listNotifications } from '#core/business/payments/order-trail.ts';
import type { OrderDetails, OrderOwner } from './describe.ts';

export { listOpenFlags } from '#core/business/payments/flags.ts';
export { listMovements } from '#core/business/payments/movements.ts';
export { listOrders } from '#core/business/payments/order.ts';
export { readMonth } from '#core/business/payments/monthly-books.ts';
export { BooksCsv } from '#core/business/payments/books-csv.ts';
export { describeReconciliation } from './describe.ts';
export { monthToCsv, monthToHtml } from '#core/business/payments/month-document.ts';

/** Actions of operators that are shown, the newest. */
const listedActions = 50;

/** Filters as they are written on the command line. */
export interface FilterOptions {
  readonly state?: OrderState;
  readonly flagged?: true;
  readonly day?: string;
  readonly since?: string;
  readonly until?: string;
  readonly account?: string;
}

/** @throws AccountError */
export async function readFilter(host: Host, options: FilterOptions, timeZone: string): Promise<OrderFilter> {
  const { state, flagged, day, since = day, until = day, account } = options;
  const range = await rangeOfDays(host.database, timeZone, since, until);
  return {
    state,
    isFlagged: flagged,
    accountId: account === undefined ? undefined : (await findAccountByHandle(host, account)).id,
    ...range,
  };
}

/** @param handle id or code of an order @throws CommandFailed with code 3 */
export async function findOrder({ database }: Host, handle: string): Promise<Order> {
  const order = (await readOrder(database, { code: handle })) ?? (await readOrder(database, { id: handle }));
  if (order === undefined)
    throw new CommandFailed(`Order ${handle} not found. List orders with: daypass orders list`, 3);
  return order;
}

/** Name and e-mail address of those who ordered, by account id. */
export async function ownersOf({ database }: Host, orders: readonly Order[]): Promise<Map<string, OrderOwner>> {
  const accounts = await readAccounts(database, 'id', [...new Set(orders.map(({ accountId }) => accountId))]);
  return new Map(accounts.map(({ id, name, email }) => [id, { name, email }]));
}

/**
 * The payment to refund: by its id, or the only one of an order.
 *
 * @throws CommandFailed, CheckoutError
 */
export async function paymentToPayBack(
  host: Host,
  handle: string | undefined,
  paymentId: string | undefined,
): Promise<{ order: Order; payment: Payment }> {
  if (paymentId === undefined && handle === undefined) throw new CommandFailed('Name an order, or --payment ID.', 2);
  const order =
    handle === undefined ? await findOrderOfPayment(host.database, paymentId ?? '') : await findOrder(host, handle);
  if (order === undefined) throw new CommandFailed(`Payment ${paymentId} not found.`, 3);
  if (paymentId === undefined) return { order, payment: paymentToRefund(order) };
  const payment = order.payments.find((one) => one.id === paymentId.toLowerCase() || one.paymentId === paymentId);
  if (payment === undefined) throw new CommandFailed(`Order ${order.code} has no payment ${paymentId}.`, 3);
  return { order, payment };
}

export async function detailsOf(host: Host, order: Order): Promise<OrderDetails> {
  const { database } = host;
  return {
    order,
    owner: (await ownersOf(host, [order])).get(order.accountId),
    attempts: await listAttempts(database, order.id),
    notifications: await listNotifications(database, order.id),
    ledger: await listLedger(database, order.gift?.redeemedBy ?? order.accountId, order.id),
    actions: await listActions(database, { subject: order.id, limit: listedActions }),
  };
}

export function currencyOf(host: Host): string {
  return host.section(currencySection);
}
