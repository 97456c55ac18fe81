import { formatActions, formatEntries, formatEntry } from '#core/extension/commands/field-text.ts';
import { formatSection, formatTime } from '#core/extension/commands/table-text.ts';
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
import { orderView } from '#core/web/resources/orders.ts';

function describeOwner({ accountId }: Order, owner: OrderDetails['owner']): string {
  if (owner === undefined) return accountId;
  return `${owner.name}${owner.email === undefined ? '' : ` <${owner.email}>`} (${accountId})`;
}

export function describeOrder(
  { order, owner, attempts: tried, notifications: sent, ledger: entries, actions }: OrderDetails,
  timeZone: string,
): string[] {
  const time = (value: Date | undefined) => formatTime(value, timeZone);
  const text = {
    timeZone,
    now: order.readAt.getTime(),
    names: new Map([[order.accountId, describeOwner(order, owner)]]),
  };
  const section = <Entry>(title: string, rows: readonly Entry[], { text: fields }: Pick<EntryView<Entry>, 'text'>) =>
    formatSection(title, formatEntries(rows, fields, text));
  const facts = [
    'order',
    'id',
    'account',
    'state',
    'plan',
    'price',
    'provider',
    'created',
    'pay_until',
    'paid',
  ] as const;
  return [
    ...formatEntry(order, orderView.pick(...facts), text, [
      ['period', order.period && `${time(order.period.startsAt)} to ${time(order.period.endsAt)}`],
      ['gift', describeGift(order, time)],
      ['times', timeZone],
    ]),
    ...section('attempts', tried, attempts),
    ...section('payments', order.payments, paymentsOf(order)),
    ...section('notifications', sent, notifications),
    ...section('flags', order.flags, flagsOf(order)),
    ...section('refunds', order.refunds, refundsOf(order)),
    ...section('ledger', entries, { text: ledger.pick('written', 'reason', 'days', 'from', 'until', 'in_force') }),
    ...formatActions(actions, text),
  ];
}

/** What has become of a gift, and who has its days. */
function describeGift({ isGift, gift, paidAt }: Order, time: (value: Date) => string): string | undefined {
  if (!isGift) return undefined;
  if (gift === undefined) return paidAt === undefined ? 'not paid yet' : 'no code: its days went to the buyer';
  const { state, hint, expiresAt, redeemedAt, revokedAt, redeemedBy, period } = gift;
  const code = `…${hint}`;
  if (state === 'open') return `${code}, to be redeemed by ${time(expiresAt)}`;
  if (redeemedAt === undefined) return `${code}, ${state} ${time(revokedAt ?? expiresAt)}`;
  const days = period === undefined ? '' : `, ${time(period.startsAt)} to ${time(period.endsAt)}`;
  return `${code}, redeemed ${time(redeemedAt)} by ${redeemedBy}${days}`;
}
