import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { isProlonged, type LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { severityOf } from '#core/business/payments/flags.ts';
import type { Order, OrderFlag, OrderRefund, Payment } from '#core/business/payments/order.ts';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import { type UsageCounts, usageHour, type UsageKeys } from '#core/gateway/records/usage.ts';
import type { StoryEntry } from '#core/web/pages/account-story.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { ledgerNote } from '#core/web/resources/ledger.ts';
import { tellAction, tellDone as tellThatDone } from '#core/web/actions/tell-action.ts';
import { describeDevice } from '#core/web/sessions/device.ts';
import type { SessionRecord } from '#core/web/sessions/sessions.ts';
import { joinParts } from '#core/web/texts/formatter.ts';

/** Filters of the story. */
const topics = ['money', 'access', 'requests'] as const;

/** Entries that are shown, and hours of errors among them. */
const shown = { entries: 30, hours: 5 };
/** Rejected or failed requests from which on an hour is listed. */
const notableErrors = 20;
/** Ms after the account was created within which its first key belongs to that. */
const firstKey = 60_000;

/** An account's data from the tables that have it. */
export interface StorySources {
  readonly record: AccountRecord;
  readonly orders: readonly Order[];
  readonly ledger: readonly LedgerEntry[];
  readonly actions: readonly RecordedAction[];
  /** Entries of plugins. */
  readonly others: readonly StoryEntry[];
  readonly sessions: readonly SessionRecord[];
  readonly hours: readonly (UsageCounts & Pick<UsageKeys, 'hour'>)[];
}

type Words = Pick<PageRequest, 't' | 'format' | 'language' | 'host'> & {
  /** Of accounts that actions name, by id. */
  readonly names?: ReadonlyMap<string, string>;
};

/** Events of an account: money, access and requests in one list, the newest first. `?story=money` narrows it. */
export function describeStory(sources: StorySources, words: Words & Pick<PageRequest, 'query'>) {
  const { t, format, query, host } = words;
  const now = new Date(host.now());
  const topic = topics.find((name) => name === query['story']);
  const path = `/operator/accounts/${sources.record.id}`;
  const entries = [
    ...sources.orders.flatMap((order) => tellOrder(order, words)),
    ...sources.ledger.filter(isTold).map((entry) => tellEntry(entry, words)),
    ...sources.actions.filter(isOfAccess).map((action) => tellDone(action, words)),
    ...sources.others,
    ...tellAccess(sources, words),
    ...tellErrors(sources, words),
  ]
    .filter((entry) => topic === undefined || entry.topic === topic)
    .toSorted((one, other) => other.at.getTime() - one.at.getTime());
  return {
    topics: [undefined, ...topics].map((name) => ({
      path: name === undefined ? path : `${path}?story=${name}`,
      label: t(name === undefined ? 'operator.all' : `operator.story.${name}`),
      isCurrent: name === topic,
    })),
    entries: entries.slice(0, shown.entries).map(({ at, ...entry }) => ({ ...entry, time: format.dayTime(at, now) })),
  };
}

function tellOrder(order: Order, words: Words): StoryEntry[] {
  const { t, format } = words;
  const { code, state, days, price, currency, payments, refunds, flags, expiresAt } = order;
  const open = flags.filter(({ resolvedAt }) => resolvedAt === undefined);
  const money = new Set([...payments.map(({ id }) => id), ...refunds.map(({ key }) => key)]);
  const link = { path: `/operator/orders/${code}`, label: code };
  return [
    {
      topic: 'money',
      at: order.createdAt,
      icon: 'info',
      title: t('operator.story.ordered', { days: t('operator.days', { count: days }) }),
      text: joinParts(
        format.money(price, currency),
        state === 'cancelled' || state === 'failed'
          ? t(`operator.order_state.${state}`).toLowerCase()
          : t('operator.story.pay_until', { time: format.shortTime(expiresAt).text }),
      ),
      link,
    },
    ...payments.map((payment) => tellPayment(payment, order, open, words)),
    ...refunds.map((refund) => tellRefund(refund, order, open, words)),
    ...open.filter(({ subject }) => !money.has(subject)).map((flag) => tellFlag(flag, order, words)),
    ...flags.flatMap((flag) => tellResolution(flag, order, words)),
  ];
}

function tellPayment(payment: Payment, order: Order, open: readonly OrderFlag[], { t, format }: Words): StoryEntry {
  const { id, amount, currency, paidAt, outcome } = payment;
  const paid = format.money(amount, currency);
  const isPart = outcome === 'wrong_amount' || outcome === 'wrong_currency';
  const flag = open.find(({ subject }) => subject === id);
  const text =
    outcome === 'activated'
      ? t('operator.story.activated', { order: order.code, days: t('operator.days', { count: order.days }) })
      : t('operator.story.not_activated', { order: order.code, outcome: t(`operator.payment_outcome.${outcome}`) });
  return {
    topic: 'money',
    at: paidAt,
    icon:
      outcome === 'activated' ? 'ok' : flag === undefined ? 'info' : severityOf(flag.kind) === 'bad' ? 'bad' : 'warn',
    title: isPart
      ? t('operator.story.paid_part', { paid, price: format.money(order.price, order.currency) })
      : t('operator.story.paid', { paid }),
    text,
    ...(flag !== undefined && { link: resolveLink(flag, t) }),
  };
}

const refundIcons = { asked: 'waiting', sent: 'waiting', done: 'ok', failed: 'bad' } as const;

function tellRefund(refund: OrderRefund, order: Order, open: readonly OrderFlag[], { t, format }: Words): StoryEntry {
  const flag = open.find(({ subject }) => subject === refund.key);
  return {
    topic: 'money',
    at: refund.createdAt,
    icon: refundIcons[refund.state],
    title: t('operator.story.refund', { amount: format.money(refund.amount, refund.currency) }),
    text: joinParts(`${order.code}, ${t(`operator.refund_state.${refund.state}`).toLowerCase()}`, t(refund.reason)),
    ...(flag !== undefined && { link: resolveLink(flag, t) }),
  };
}

function tellFlag(flag: OrderFlag, { code }: Order, { t }: Words): StoryEntry {
  return {
    topic: 'money',
    at: flag.createdAt,
    icon: severityOf(flag.kind) === 'bad' ? 'bad' : 'warn',
    title: t(`operator.flag.${flag.kind}`),
    text: code,
    link: resolveLink(flag, t),
  };
}

function tellResolution({ kind, resolvedAt, resolution }: OrderFlag, { code }: Order, { t }: Words): StoryEntry[] {
  if (resolvedAt === undefined) return [];
  const title = t('operator.story.resolved', { flag: t(`operator.flag.${kind}`) });
  const text = joinParts(code, resolution && t(resolution));
  return [{ topic: 'money', at: resolvedAt, icon: 'ok', title, text }];
}

function resolveLink({ id }: OrderFlag, t: Words['t']) {
  return { path: `/operator/flags/${id}`, label: t('operator.act.flag.resolve') };
}

/** Time that was bought, taken back with a refund, or moved by either is listed together with the money. */
function isTold({ reason }: LedgerEntry): boolean {
  return reason !== 'order' && reason !== 'refund' && reason !== 'shift';
}

function tellEntry(entry: LedgerEntry, words: Words): StoryEntry {
  const { reason, days, createdAt, endsAt } = entry;
  const { t, format, host } = words;
  return {
    topic: 'access',
    at: createdAt,
    icon: reason === 'revoke' ? 'info' : 'ok',
    title: [
      t(`operator.ledger_reason.${reason}`),
      ...(isProlonged(entry) ? [] : [t('operator.days', { count: days })]),
    ].join(': '),
    text: joinParts(
      ledgerNote(entry, words),
      t('operator.pass_ends', { time: format.dayTime(endsAt, new Date(host.now())).text }),
    ),
  };
}

/** Orders, notes and granted days are shown elsewhere. */
function isOfAccess({ action, outcome }: RecordedAction): boolean {
  return action !== 'account.note' && (action !== 'account.add_days' || outcome !== 'done');
}

const actionIcons = { done: 'info', failed: 'bad', unknown: 'waiting' } as const;

function tellDone(done: RecordedAction, words: Words): StoryEntry {
  const { action, createdAt, operator, outcome } = done;
  return {
    topic: 'access',
    at: createdAt,
    icon: actionIcons[outcome],
    title: tellThatDone(action, words.t),
    text: joinParts(tellAction(done, words, words.names), operator),
  };
}

/** Sessions that have ended are not on record any more. */
function tellAccess({ record, sessions }: StorySources, { t }: Words): StoryEntry[] {
  const { key, createdAt } = record;
  const keyAt = key?.rotatedAt ?? key?.createdAt;
  const entry = (at: Date, title: string, text = ''): StoryEntry => ({
    topic: 'access',
    at,
    icon: 'info',
    title: t(title),
    text,
  });
  return [
    entry(createdAt, 'operator.story.created'),
    ...(key === undefined || keyAt === undefined || keyAt.getTime() - createdAt.getTime() < firstKey
      ? []
      : [entry(keyAt, 'operator.story.new_key', key.hint)]),
    ...sessions.map((session) =>
      entry(session.createdAt, 'operator.story.signed_in', describeDevice(session.userAgent)),
    ),
  ];
}

/** The hours in which many requests were rejected or failed. */
function tellErrors({ record, hours }: StorySources, { t, format }: Words): StoryEntry[] {
  return hours
    .filter(({ errors }) => errors >= notableErrors)
    .toSorted((one, other) => other.hour - one.hour)
    .slice(0, shown.hours)
    .map(({ hour, requests, refused, failed }) => {
      const query = { account: record.id, show: 'errors', time: '30d', before: createRequestId(hour + usageHour) };
      return {
        topic: 'requests',
        at: new Date(hour),
        icon: 'warn',
        title:
          failed > refused
            ? t('operator.story.failed', { count: format.number(failed) })
            : t('operator.story.rejected', { count: format.number(refused) }),
        text: t('operator.story.hour', {
          all: format.number(requests),
          from: format.shortTime(new Date(hour)).text,
          until: format.shortTime(new Date(hour + usageHour)).text,
        }),
        link: { path: `/operator/requests?${new URLSearchParams(query)}`, label: t('operator.story.show') },
      };
    });
}
