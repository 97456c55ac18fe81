import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../accounts/account-events.ts';
import type { OrderEvent } from '#core/gateway/events/events.ts';

/** Records that an order has been refunded, in the transaction in which it is, once. */
export async function recordRefunded(transaction: EntityManager, { orderId, accountId }: OrderEvent): Promise<void> {
  await recordEvent(transaction, 'order.refunded', { orderId, accountId }, `order.refunded:${orderId}`);
}
