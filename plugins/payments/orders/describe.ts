import { formatActions, formatEntries, formatEntry } from '#core/extension/commands/field-text.ts';
import { formatSection } from '#core/extension/commands/table-text.ts';
import type { Order } from '#core/business/payments/order-types.ts';
import type { EntryView } from '#core/web/resources/field.ts';
import { ledger } from '#core/web/resources/ledger.ts';
import {
  attempts,
  flagsOf,
  notifications,
  type OrderDetails,
  paymentsOf,
  refundsOf,
} from '#core/web/resources/order-parts.ts';
import { orderFacts, orderView } from '#core/web/resources/orders.ts';

function describeOwner({ accountId }: Order, owner: OrderDetails['owner']): string {
  if (owner === undefined) return accountId;
  return `${owner.name}${owner.email === undefined ? '' : ` <${owner.email}>`} (${accountId})`;
}

export function describeOrder(
  { order, owner, attempts: tried, notifications: sent, ledger: entries, actions }: OrderDetails,
  timeZone: string,
): string[] {
  const text = {
    timeZone,
    now: order.readAt.getTime(),
    names: new Map([[order.accountId, describeOwner(order, owner)]]),
  };
  const section = <Entry>(title: string, rows: readonly Entry[], { text: fields }: Pick<EntryView<Entry>, 'text'>) =>
    formatSection(title, formatEntries(rows, fields, text));
  const facts = orderView.pick('order', 'id', 'account', 'state', ...orderFacts, 'period', 'code');
  return [
    ...formatEntry(order, facts, text, [['times', timeZone]]),
    ...section('attempts', tried, attempts),
    ...section('payments', order.payments, paymentsOf(order)),
    ...section('notifications', sent, notifications),
    ...section('flags', order.flags, flagsOf(order)),
    ...section('refunds', order.refunds, refundsOf(order)),
    ...section('ledger', entries, { text: ledger.pick('written', 'reason', 'days', 'from', 'until', 'in_force') }),
    ...formatActions(actions, text),
  ];
}
