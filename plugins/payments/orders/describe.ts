import { nameWithAddress } from '#core/business/accounts/account-names.ts';
import { formatEntry, formatTables } from '#core/extension/commands/field-text.ts';
import { type OrderDetails, describeOrderTables } from '#core/web/resources/order-parts.ts';
import { orderFactNames, orderView } from '#core/web/resources/orders.ts';

export function describeOrder(details: OrderDetails, timeZone: string): string[] {
  const { order, owner } = details;
  const buyer =
    owner === undefined ? order.accountId : `${nameWithAddress(owner.name, owner.email)} (${order.accountId})`;
  const text = { timeZone, now: order.readAt.getTime(), names: new Map([[order.accountId, buyer]]) };
  const facts = orderView.pick('order', 'id', 'account', 'state', ...orderFactNames, 'period', 'code');
  return [
    ...formatEntry(order, facts, text, [['times', timeZone]]),
    ...formatTables(describeOrderTables(details), text),
  ];
}
