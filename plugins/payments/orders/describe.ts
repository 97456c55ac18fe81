import { formatMoney } from '#core/business/accounts/money.ts';
import type { LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { formatActions } from '#core/extension/commands/action-table.ts';
import { formatFields, formatSection, formatTable, formatTime } from '#core/extension/commands/table-text.ts';
import type { AttemptTrail, NotificationTrail } from '#core/business/payments/order-trail.ts';
import type { FlaggedMoney, OpenFlag } from '#core/business/payments/flags.ts';
import { type Order, refundable } from '#core/business/payments/order-types.ts';

/** Whose order it is. */
export interface OrderOwner {
  readonly name: string;
  readonly email: string | undefined;
}

/** All that `daypass orders show` prints. */
export interface OrderDetails {
  readonly order: Order;
  readonly owner: OrderOwner | undefined;
  readonly attempts: readonly AttemptTrail[];
  readonly notifications: readonly NotificationTrail[];
  readonly ledger: readonly LedgerEntry[];
  readonly actions: readonly RecordedAction[];
}

/** @param owners by account id */
export function describeOrders(
  orders: readonly Order[],
  owners: ReadonlyMap<string, OrderOwner>,
  timeZone: string,
): string[] {
  if (orders.length === 0) return ['No order found.'];
  return formatTable(
    ['order', `created (${timeZone})`, 'state', 'days', 'price', 'provider', 'account', 'flags'],
    orders.map((order) => [
      order.code,
      formatTime(order.createdAt, timeZone),
      describeState(order),
      order.isGift ? `${order.days} (gift)` : String(order.days),
      formatMoney(order.price, order.currency),
      order.provider,
      shortNameOf(order, owners.get(order.accountId)),
      openFlags(order).join(', '),
    ]),
  );
}

export function describeFlags(flags: readonly OpenFlag[], timeZone: string): string[] {
  if (flags.length === 0) return ['No flag is open.'];
  return formatTable(
    ['flag', `since (${timeZone})`, 'kind', 'order', 'buyer', 'money', 'about'],
    flags.map(({ id, createdAt, kind, order, money, subject }) => [
      id,
      formatTime(createdAt, timeZone),
      kind,
      order?.code ?? '',
      order?.buyer ?? '',
      money === undefined ? '' : describeFlaggedMoney(money),
      subject,
    ]),
  );
}

function describeFlaggedMoney({ kind, amount, currency, statedAmount }: FlaggedMoney): string {
  const stated = statedAmount === undefined ? '' : `, ${formatMoney(statedAmount, currency)} at the provider`;
  return `${kind === 'refund' ? 'refund of ' : ''}${formatMoney(amount, currency)}${stated}`;
}

/** What an account is found by: names alone are not unique, least of all that of deleted accounts. */
function shortNameOf({ accountId }: Order, owner: OrderOwner | undefined): string {
  if (owner === undefined) return accountId;
  return owner.email ?? `${owner.name} (${accountId})`;
}

function describeOwner({ accountId }: Order, owner: OrderOwner | undefined): string {
  if (owner === undefined) return accountId;
  return `${owner.name}${owner.email === undefined ? '' : ` <${owner.email}>`} (${accountId})`;
}

/** As the buyer reads it: a wrong amount waits for the operator, whatever its charge does. */
function describeState({ state, isLate, flags }: Order): string {
  const wrong = flags.find(({ kind, resolvedAt }) => kind.startsWith('wrong_') && resolvedAt === undefined);
  if (wrong !== undefined && state !== 'paid' && state !== 'refunded') return wrong.kind.replace('_', ' ');
  return isLate ? `${state}, late` : state;
}

function openFlags({ flags }: Order): string[] {
  return flags.filter(({ resolvedAt }) => resolvedAt === undefined).map(({ kind }) => kind);
}

export function describeOrder(
  { order, owner, attempts, notifications, ledger, actions }: OrderDetails,
  timeZone: string,
): string[] {
  const time = (value: Date | undefined) => formatTime(value, timeZone);
  return [
    ...formatFields([
      ['order', order.code],
      ['id', order.id],
      ['account', describeOwner(order, owner)],
      ['state', describeState(order)],
      [
        'plan',
        `${order.days} ${order.days === 1 ? 'day' : 'days'}${order.label === undefined ? '' : `, ${order.label}`}`,
      ],
      ['price', formatMoney(order.price, order.currency)],
      ['provider', order.provider],
      ['created', time(order.createdAt)],
      ['pay until', time(order.expiresAt)],
      ['paid', order.paidAt && time(order.paidAt)],
      ['period', order.period && `${time(order.period.startsAt)} to ${time(order.period.endsAt)}`],
      ['gift', describeGift(order, time)],
      ['times', timeZone],
    ]),
    ...table(
      'attempts',
      ['reference', 'created', 'charge', 'state', 'amount', 'checks', 'next check', 'error'],
      attempts.map((attempt) => [
        attempt.reference,
        time(attempt.createdAt),
        attempt.charge,
        attempt.state,
        formatMoney(attempt.amount, attempt.currency),
        String(attempt.checks),
        time(attempt.nextCheckAt),
        attempt.error ?? '',
      ]),
    ),
    ...table(
      'payments',
      ['payment', 'paid', 'amount', 'outcome', 'left', 'at the provider', 'from'],
      order.payments.map((payment) => [
        payment.id,
        time(payment.paidAt),
        formatMoney(payment.amount, payment.currency),
        payment.outcome,
        formatMoney(refundable(order, payment), payment.currency),
        payment.paymentId,
        payment.issuer ?? '',
      ]),
    ),
    ...table(
      'notifications',
      ['received', 'reference', 'tries', 'outcome'],
      notifications.map((one) => [time(one.receivedAt), one.reference, String(one.tries), one.outcome ?? 'waiting']),
    ),
    ...table(
      'flags',
      ['flag', 'since', 'kind', 'about', 'resolved', 'outcome', 'resolution'],
      order.flags.map((flag) => [
        flag.id,
        time(flag.createdAt),
        flag.kind,
        flag.subject,
        time(flag.resolvedAt),
        flag.outcome ?? '',
        flag.resolution ?? '',
      ]),
    ),
    ...table(
      'refunds',
      ['refund', 'of payment', 'created', 'amount', 'state', 'days', 'by', 'reason'],
      order.refunds.map((refund) => [
        refund.key,
        refund.paymentId,
        time(refund.createdAt),
        formatMoney(refund.amount, refund.currency),
        refund.state,
        refund.days,
        refund.isManual ? 'operator' : 'provider',
        refund.reason,
      ]),
    ),
    ...table(
      'ledger',
      ['written', 'reason', 'days', 'from', 'until', ''],
      ledger.map((entry) => [
        time(entry.createdAt),
        entry.reason,
        String(entry.days),
        time(entry.startsAt),
        time(entry.endsAt),
        entry.isInForce ? '' : 'replaced',
      ]),
    ),
    ...formatSection('actions', formatActions(actions, timeZone)),
  ];
}

/** What has become of a gift, and who has its days. */
function describeGift({ isGift, gift }: Order, time: (value: Date) => string): string | undefined {
  if (!isGift) return undefined;
  if (gift === undefined) return 'not paid yet';
  const { state, hint, expiresAt, redeemedAt, revokedAt, redeemedBy, period } = gift;
  const code = `…${hint}`;
  if (state === 'open') return `${code}, to be redeemed by ${time(expiresAt)}`;
  if (redeemedAt === undefined) return `${code}, ${state} ${time(revokedAt ?? expiresAt)}`;
  const days = period === undefined ? '' : `, ${time(period.startsAt)} to ${time(period.endsAt)}`;
  return `${code}, redeemed ${time(redeemedAt)} by ${redeemedBy}${days}`;
}

/** Nothing without rows. */
function table(title: string, heading: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : formatSection(title, formatTable(heading, rows));
}
