import { currencySection } from '#core/business/accounts/plans.ts';
import { decisionDue, isDecisionPromised } from '#core/business/payments/flags.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { countChecks, countOpenFlags, readOldestUnconfirmed } from '#core/business/payments/payment-figures.ts';
import { readRevenue } from '#core/business/payments/revenue.ts';
import { service as serviceSection } from '#core/config/sections/core-sections.ts';
import type { HealthChecks } from '#core/gateway/health/health-check.ts';
import { readHealth } from '#core/gateway/health/read-health.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { type Formatter, formatterFor } from '#core/web/texts/formatter.ts';
import type { Language, Translate } from '#core/web/texts/texts.ts';
import type { AlertEvent, ClaimedAlert } from '#core/business/mail/outbox.ts';
import { mailTexts } from '../texts.ts';

/** An alert, ready to be written as a mail or as JSON. */
export interface Alert {
  readonly title: string;
  readonly text: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Page of the operator, below the URL of the service. */
  readonly path: string;
  /** The same facts for programs: snake_case, no personal data. */
  readonly data: JsonObject;
}

interface Context {
  readonly host: Host;
  readonly gateway: HealthChecks;
  readonly payload: ClaimedAlert['payload'];
  readonly t: Translate;
  readonly format: Formatter;
}

/** What the operator reads of an event, or the reason for sending nothing. */
export async function composeAlert(
  host: Host,
  gateway: HealthChecks,
  { event, payload }: Pick<ClaimedAlert, 'event' | 'payload'>,
  language: Language,
): Promise<Alert | string> {
  const t = mailTexts.in(language);
  const format = formatterFor(language, host.section(serviceSection).time_zone);
  // Another version may have recorded it.
  const compose = (composers as Partial<typeof composers>)[event];
  return compose === undefined
    ? 'nothing tells of such events any more'
    : compose({ host, gateway, payload, t, format });
}

const composers: Readonly<Record<AlertEvent, (context: Context) => Promise<Alert | string>>> = {
  'order.flagged': orderFlagged,
  'payment.unknown': paymentUnknown,
  'payments.delayed': paymentsDelayed,
  'day.reported': dayReported,
};

async function orderFlagged({ host, payload, t, format }: Context): Promise<Alert | string> {
  const order = await readOrder(host.database, { id: payload['orderId'] ?? '' });
  if (order === undefined) return 'there is no such order';
  const reason = payload['reason'] ?? '';
  const flag = order.flags.find(({ id }) => id === payload['flagId']);
  if (flag?.resolvedAt !== undefined) return 'the flag is resolved';
  const about =
    order.payments.find(({ paymentId, outcome }) =>
      reason === 'deleted_account' ? outcome === 'activated' : paymentId === flag?.subject,
    ) ?? order.refunds.find(({ key }) => key === flag?.subject);
  const money = about === undefined ? undefined : { amount: about.amount, currency: about.currency };
  const due = isDecisionPromised(reason) ? decisionDue(host, flag?.createdAt ?? order.readAt) : undefined;
  return {
    title: t('alert.flagged.title', { code: order.code, reason: t(`alert.reason.${reason}`) }),
    text: t('alert.flagged.text'),
    facts: [
      [t('order'), order.code],
      [t('alert.price'), format.money(order.price, order.currency)],
      ...(money === undefined ? [] : [[t('alert.money'), format.money(money.amount, money.currency)] as const]),
      ...(due === undefined ? [] : [[t('alert.due'), format.time(due).text] as const]),
    ],
    path: `/operator/orders/${order.code}`,
    data: {
      order: order.code,
      order_id: order.id,
      account_id: order.accountId,
      reason,
      price: order.price,
      currency: order.currency,
      money: money ?? null,
      decide_by: due?.toISOString() ?? null,
    },
  };
}

async function paymentUnknown({ payload, t, format }: Context): Promise<Alert> {
  const { provider = '', kind = 'payment', currency = 'IDR', amount } = payload;
  const isRefund = kind === 'refund';
  return {
    title: t(isRefund ? 'alert.unknown_refund.title' : 'alert.unknown.title', { provider }),
    text: t(isRefund ? 'alert.unknown_refund.text' : 'alert.unknown.text'),
    facts: [[t('alert.money'), format.money(Number(amount), currency)]],
    path: '/operator/flags',
    data: { provider, kind, money: { amount: Number(amount), currency } },
  };
}

async function paymentsDelayed({ host, payload, t, format }: Context): Promise<Alert | string> {
  const oldest = await readOldestUnconfirmed(host.database);
  if (oldest === undefined) return 'all payments are confirmed';
  const { notifications } = await countChecks(host.database);
  return {
    title: t('alert.delayed.title'),
    text: t('alert.delayed.text'),
    facts: [
      [t('alert.waiting'), format.number(notifications)],
      [t('alert.since'), format.time(new Date(oldest)).text],
    ],
    path: '/operator',
    data: { waiting: notifications, since: payload['since'] ?? null },
  };
}

async function dayReported({ host, gateway, payload, t, format }: Context): Promise<Alert> {
  const { database, section } = host;
  const currency = section(currencySection);
  const [revenue, flags, checks, oldest, health] = await Promise.all([
    readRevenue(database, { currency, timeZone: section(serviceSection).time_zone, days: 8 }),
    countOpenFlags(database),
    countChecks(database),
    readOldestUnconfirmed(database),
    readHealth(gateway, host),
  ]);
  const sold = revenue.find(({ day }) => day === payload['day']) ?? { amount: 0, orders: 0 };
  const failing = health.filter((check) => !check.ok);
  const open = flags.reduce((sum, { count }) => sum + count, 0);
  const day = payload['day'] ?? '';
  const needs = open + failing.length;
  return {
    title: needs === 0 ? t('alert.report.title_calm', { day }) : t('alert.report.title', { day, count: needs }),
    text: t(needs === 0 ? 'alert.report.calm' : 'alert.report.text'),
    facts: [
      [t('alert.revenue'), format.money(sold.amount, currency)],
      [t('alert.orders'), format.number(sold.orders)],
      ...flags.map(({ kind, count }) => [t(`alert.reason.${kind}`), format.number(count)] as const),
      [t('alert.refunds'), format.number(checks.refunds)],
      ...(oldest === undefined ? [] : [[t('alert.unconfirmed'), format.time(new Date(oldest)).text] as const]),
      ...failing.map(({ name, reason }) => [name, reason] as const),
    ],
    path: '/operator',
    data: {
      day,
      revenue: sold.amount,
      currency,
      orders: sold.orders,
      open_flags: Object.fromEntries(flags.map(({ kind, count }) => [kind, count])),
      refunds_pending: checks.refunds,
      oldest_unconfirmed: oldest === undefined ? null : new Date(oldest).toISOString(),
      failing_checks: failing.map(({ name, reason }) => ({ name, reason })),
    },
  };
}
