/** Implementation of the commands, loaded on demand: MikroORM would slow all other commands down. */
import { CommandFailed } from '#core/extension/commands/command.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type Order, type Payment, readOrder } from '#core/business/payments/order.ts';
import { findOrderOfPayment, paymentToRefund } from '#core/business/payments/refunds.ts';

/** @param handle id or code of an order @throws CommandFailed with code 3 */
export async function findOrder({ database }: Host, handle: string): Promise<Order> {
  const order = (await readOrder(database, { code: handle })) ?? (await readOrder(database, { id: handle }));
  if (order === undefined)
    throw new CommandFailed(`Order ${handle} not found. List orders with: daypass orders list`, 3);
  return order;
}

/**
 * The payment to refund: by its id, or the only one of an order.
 *
 * @throws CommandFailed, CheckoutError
 */
export async function paymentToPayBack(
  host: Host,
  handle: string,
  paymentId: string | undefined,
): Promise<{ order: Order; payment: Payment }> {
  if (paymentId === undefined && handle === '') throw new CommandFailed('Name an order, or --payment ID.', 2);
  const order =
    handle === '' ? await findOrderOfPayment(host.database, paymentId ?? '') : await findOrder(host, handle);
  if (order === undefined) throw new CommandFailed(`Payment ${paymentId} not found.`, 3);
  if (paymentId === undefined) return { order, payment: paymentToRefund(order) };
  const payment = order.payments.find((one) => one.id === paymentId.toLowerCase() || one.paymentId === paymentId);
  if (payment === undefined) throw new CommandFailed(`Order ${order.code} has no payment ${paymentId}.`, 3);
  return { order, payment };
}
