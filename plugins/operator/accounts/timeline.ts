import { isExtension, type LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { severityOfFlag } from '#core/business/payments/flags.ts';
import type { Order, OrderFlag, OrderRefund, Payment } from '#core/business/payments/order.ts';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import { type UsageCounts, hourMs, type UsageKeys } from '#core/gateway/records/usage.ts';
import type { TimelineEntry } from '#core/web/pages/account-timeline.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { AccountDetails } from '#core/web/resources/account-details.ts';
import { describeAction, describeDone } from '#core/web/resources/describe-action.ts';
import type { FieldReader } from '#core/web/resources/field.ts';
import { describeLedgerNote } from '#core/web/resources/ledger.ts';
import { describeDevice } from '#core/web/sessions/device.ts';
import { joinParts } from '#core/web/texts/formatter.ts';

const topics = ['money', 'access', 'requests'] as const;

const maxShown = { entries: 30, errorHours: 5 };
const minHourlyErrors = 20;
/** A key created this soon after the account is its first key, which has no entry of its own. */
const firstKeyMs = 60_000;

export type TimelineSources = Pick<AccountDetails, 'record' | 'ledger' | 'actions' | 'sessions'> & {
  readonly orders: readonly Order[];
  readonly pluginEntries: readonly TimelineEntry[];
  readonly hours: readonly (UsageCounts & Pick<UsageKeys, 'hour'>)[];
};

export function describeTimeline(sources: TimelineSources, reader: FieldReader & Pick<PageRequest, 'query'>) {
  const { t, format, query, host } = reader;
  const now = new Date(host.now());
  const topic = topics.find((name) => name === query['story']);
  const path = `/operator/accounts/${sources.record.id}`;
  const entries = [
    ...sources.orders.flatMap((order) => describeOrder(order, reader)),
    ...sources.ledger.filter(isListedEntry).map((entry) => describeLedgerEntry(entry, reader)),
    ...sources.actions.filter(isListedAction).map((action) => describeActionEntry(action, reader)),
    ...sources.pluginEntries,
    ...describeAccess(sources, reader),
    ...describeErrors(sources, reader),
  ]
    .filter((entry) => topic === undefined || entry.topic === topic)
    .toSorted((a, b) => b.at.getTime() - a.at.getTime());
  return {
    topics: [undefined, ...topics].map((name) => ({
      path: name === undefined ? path : `${path}?story=${name}`,
      label: t(name === undefined ? 'operator.all' : `operator.story.${name}`),
      isCurrent: name === topic,
    })),
    entries: entries
      .slice(0, maxShown.entries)
      .map(({ at, ...entry }) => ({ ...entry, time: format.dayTime(at, now) })),
    note: entries.length > maxShown.entries ? t('operator.newest_listed', { count: maxShown.entries }) : '',
  };
}

const createEntry =
  (topic: TimelineEntry['topic']) =>
  (at: Date, icon: TimelineEntry['icon'], title: string, text = '', link?: TimelineEntry['link']): TimelineEntry => ({
    topic,
    at,
    icon,
    title,
    text,
    link,
  });
const createMoneyEntry = createEntry('money');
const createAccessEntry = createEntry('access');
const createRequestsEntry = createEntry('requests');

function describeOrder(order: Order, reader: FieldReader): TimelineEntry[] {
  const { t, format } = reader;
  const { code, state, days, price, currency, payments, refunds, flags, expiresAt, createdAt } = order;
  const openFlags = flags.filter(({ resolvedAt }) => resolvedAt === undefined);
  const findFlag = (id: string) => openFlags.find(({ subject }) => subject === id);
  const moneyFlags = new Set([...payments.map(({ id }) => findFlag(id)), ...refunds.map(({ key }) => findFlag(key))]);
  const ordered = t('operator.story.ordered', { days: t('operator.days', { count: days }) });
  const outcome =
    state === 'cancelled' || state === 'failed'
      ? t(`operator.order_state.${state}`).toLowerCase()
      : t('operator.story.pay_until', { time: format.shortTime(expiresAt).text });
  const link = { path: `/operator/orders/${code}`, label: code };
  return [
    createMoneyEntry(createdAt, 'info', ordered, joinParts(format.money(price, currency), outcome), link),
    ...payments.map((payment) => describePayment(payment, order, findFlag(payment.id), reader)),
    ...refunds.map((refund) => describeRefund(refund, order, findFlag(refund.key), reader)),
    ...flags.filter((flag) => !moneyFlags.has(flag)).map((flag) => describeFlag(flag, code, reader)),
  ];
}

function describeFlag(flag: OrderFlag, code: string, { t }: FieldReader): TimelineEntry {
  const { kind, createdAt, resolvedAt, resolution } = flag;
  const name = t(`operator.flag.${kind}`);
  if (resolvedAt === undefined)
    return createMoneyEntry(createdAt, severityOfFlag(kind), name, code, createResolveLink(flag, t));
  const title = t('operator.story.resolved', { flag: name });
  return createMoneyEntry(resolvedAt, 'ok', title, joinParts(code, resolution && t(resolution)));
}

function describePayment(
  payment: Payment,
  order: Order,
  flag: OrderFlag | undefined,
  { t, format }: FieldReader,
): TimelineEntry {
  const { amount, currency, paidAt, outcome } = payment;
  const paid = format.money(amount, currency);
  const isPart = outcome === 'wrong_amount' || outcome === 'wrong_currency';
  const title = isPart
    ? t('operator.story.paid_part', { paid, price: format.money(order.price, order.currency) })
    : t('operator.story.paid', { paid });
  const text =
    outcome === 'activated'
      ? t('operator.story.activated', { order: order.code, days: t('operator.days', { count: order.days }) })
      : t('operator.story.not_activated', { order: order.code, outcome: t(`operator.payment_outcome.${outcome}`) });
  const flagIcon = flag === undefined ? 'info' : severityOfFlag(flag.kind);
  const icon = outcome === 'activated' ? 'ok' : flagIcon;
  return createMoneyEntry(paidAt, icon, title, text, createResolveLink(flag, t));
}

const refundIcons = { asked: 'waiting', sent: 'waiting', done: 'ok', failed: 'bad' } as const;

function describeRefund(
  refund: OrderRefund,
  order: Order,
  flag: OrderFlag | undefined,
  { t, format }: FieldReader,
): TimelineEntry {
  const { amount, currency, createdAt, state, reason } = refund;
  const title = t('operator.story.refund', { amount: format.money(amount, currency) });
  const text = joinParts(`${order.code}, ${t(`operator.refund_state.${state}`).toLowerCase()}`, t(reason));
  return createMoneyEntry(createdAt, refundIcons[state], title, text, createResolveLink(flag, t));
}

function createResolveLink(flag: OrderFlag | undefined, t: FieldReader['t']): TimelineEntry['link'] {
  return flag && { path: `/operator/flags/${flag.id}`, label: t('operator.act.flag.resolve') };
}

function isListedEntry({ reason }: LedgerEntry): boolean {
  // Days that an order added, a refund removed, or either shifted are listed with the money.
  return reason !== 'order' && reason !== 'refund' && reason !== 'shift';
}

function describeLedgerEntry(entry: LedgerEntry, reader: FieldReader): TimelineEntry {
  const { reason, days, createdAt, endsAt } = entry;
  const { t, format, host } = reader;
  const name = t(`operator.ledger_reason.${reason}`);
  const title = isExtension(entry) ? name : `${name}: ${t('operator.days', { count: days })}`;
  const ends = t('operator.pass_ends', { time: format.dayTime(endsAt, new Date(host.now())).text });
  return createAccessEntry(
    createdAt,
    reason === 'revoke' ? 'info' : 'ok',
    title,
    joinParts(describeLedgerNote(entry, reader), ends),
  );
}

function isListedAction({ action, outcome }: RecordedAction): boolean {
  // Notes have a list of their own, and granted days appear as ledger entries.
  return action !== 'account.note' && (action !== 'account.add_days' || outcome !== 'done');
}

const actionIcons = { done: 'info', failed: 'bad', unknown: 'waiting' } as const;

function describeActionEntry(recordedAction: RecordedAction, reader: FieldReader): TimelineEntry {
  const { action, createdAt, operator, outcome } = recordedAction;
  const text = joinParts(describeAction(recordedAction, reader, reader.names), operator);
  return createAccessEntry(createdAt, actionIcons[outcome], describeDone(action, reader.t), text);
}

function describeAccess({ record, sessions }: TimelineSources, { t }: FieldReader): TimelineEntry[] {
  const { key, createdAt } = record;
  const keyAt = key?.rotatedAt ?? key?.createdAt;
  const isFirstKey = keyAt === undefined || keyAt.getTime() - createdAt.getTime() < firstKeyMs;
  return [
    createAccessEntry(createdAt, 'info', t('operator.story.created')),
    ...(isFirstKey ? [] : [createAccessEntry(keyAt, 'info', t('operator.story.new_key'), key?.hint)]),
    // Ended sessions are missing because they are deleted.
    ...sessions.map((session) =>
      createAccessEntry(session.createdAt, 'info', t('operator.story.signed_in'), describeDevice(session.userAgent)),
    ),
  ];
}

function describeErrors({ record, hours }: TimelineSources, { t, format }: FieldReader): TimelineEntry[] {
  return hours
    .filter(({ errors }) => errors >= minHourlyErrors)
    .toSorted((a, b) => b.hour - a.hour)
    .slice(0, maxShown.errorHours)
    .map(({ hour, requests, refused, failed }) => {
      const query = { account: record.id, show: 'errors', time: '30d', before: createRequestId(hour + hourMs) };
      const time = (at: number) => format.shortTime(new Date(at)).text;
      const title =
        failed > refused
          ? t('operator.story.failed', { count: format.number(failed) })
          : t('operator.story.rejected', { count: format.number(refused) });
      const text = t('operator.story.hour', {
        all: format.number(requests),
        from: time(hour),
        until: time(hour + hourMs),
      });
      const link = { path: `/operator/requests?${new URLSearchParams(query)}`, label: t('operator.story.show') };
      return createRequestsEntry(new Date(hour), 'warn', title, text, link);
    });
}
