import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../accounts/account-events.ts';
import type { FlagKind } from './order-types.ts';

/** Flags an order for the operator, once for each subject. @param about the payment or refund that it is about */
export async function flagOrder(
  transaction: EntityManager,
  { orderId, accountId }: { readonly orderId: string; readonly accountId: string },
  kind: FlagKind,
  about = '',
): Promise<void> {
  const id = randomUUIDv7();
  const added = await transaction.execute<unknown[]>(
    `insert into order_flag (id, order_id, kind, subject) values (?, ?, ?, ?)
     on conflict (order_id, kind, subject) do nothing returning 1`,
    [id, orderId, kind, about],
  );
  if (added.length > 0)
    await recordEvent(transaction, 'order.flagged', { orderId, accountId, reason: kind }, `order.flagged:${id}`);
}
