import { isExtension, type LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { severityOf } from '#core/business/payments/flags.ts';
import type { Order, OrderFlag, OrderRefund, Payment } from '#core/business/payments/order.ts';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import { type UsageCounts, hourMs, type UsageKeys } from '#core/gateway/records/usage.ts';
import type { StoryEntry } from '#core/web/pages/account-story.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { AccountDetails } from '#core/web/resources/account-details.ts';
import { ledgerNote } from '#core/web/resources/ledger.ts';
import { tellAction, tellDone as tellThatDone } from '#core/web/resources/tell-action.ts';
import { describeDevice } from '#core/web/sessions/device.ts';
import { joinParts } from '#core/web/texts/formatter.ts';

/** Filters of the history. */
const topics = ['money', 'access', 'requests'] as const;

/** Maximum entries shown, and hours of errors among them. */
const shown = { entries: 30, hours: 5 };
/** Minimum number of rejected or failed requests for an hour to be listed. */
const notableErrors = 20;
/** Ms after an account's creation within which its first key gets no entry of its own. */
const firstKey = 60_000;

/** Data of an account from several tables. */
export type StorySources = Pick<AccountDetails, 'record' | 'ledger' | 'actions' | 'sessions'> & {
  readonly orders: readonly Order[];
  /** Entries from plugins. */
  readonly others: readonly StoryEntry[];
  readonly hours: readonly (UsageCounts & Pick<UsageKeys, 'hour'>)[];
};

type Words = Pick<PageRequest, 't' | 'format' | 'language' | 'host'> & {
  /** Names of accounts that actions mention, by id. */
  readonly names?: ReadonlyMap<string, string>;
};

/** Events of an account: money, access and requests in one list, newest first. `?story=money` filters the list. */
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

const entryOf =
  (topic: StoryEntry['topic']) =>
  (at: Date, icon: StoryEntry['icon'], title: string, text = '', link?: StoryEntry['link']): StoryEntry => ({
    topic,
    at,
    icon,
    title,
    text,
    ...(link !== undefined && { link }),
  });
const ofMoney = entryOf('money');
const ofAccess = entryOf('access');

function tellOrder(order: Order, words: Words): StoryEntry[] {
  const { t, format } = words;
  const { code, state, days, price, currency, payments, refunds, flags, expiresAt, createdAt } = order;
  const open = flags.filter(({ resolvedAt }) => resolvedAt === undefined);
  const money = new Set([...payments.map(({ id }) => id), ...refunds.map(({ key }) => key)]);
  const ordered = t('operator.story.ordered', { days: t('operator.days', { count: days }) });
  const outcome =
    state === 'cancelled' || state === 'failed'
      ? t(`operator.order_state.${state}`).toLowerCase()
      : t('operator.story.pay_until', { time: format.shortTime(expiresAt).text });
  const link = { path: `/operator/orders/${code}`, label: code };
  return [
    ofMoney(createdAt, 'info', ordered, joinParts(format.money(price, currency), outcome), link),
    ...payments.map((payment) => tellPayment(payment, order, open, words)),
    ...refunds.map((refund) => tellRefund(refund, order, open, words)),
    ...open
      .filter(({ subject }) => !money.has(subject))
      .map((flag) =>
        ofMoney(flag.createdAt, severityOf(flag.kind), t(`operator.flag.${flag.kind}`), code, resolveLink(flag, t)),
      ),
    ...flags.flatMap(({ kind, resolvedAt, resolution }) => {
      if (resolvedAt === undefined) return [];
      const title = t('operator.story.resolved', { flag: t(`operator.flag.${kind}`) });
      return ofMoney(resolvedAt, 'ok', title, joinParts(code, resolution && t(resolution)));
    }),
  ];
}

function tellPayment(payment: Payment, order: Order, open: readonly OrderFlag[], { t, format }: Words): StoryEntry {
  const { id, amount, currency, paidAt, outcome } = payment;
  const paid = format.money(amount, currency);
  const isPart = outcome === 'wrong_amount' || outcome === 'wrong_currency';
  const flag = open.find(({ subject }) => subject === id);
  const title = isPart
    ? t('operator.story.paid_part', { paid, price: format.money(order.price, order.currency) })
    : t('operator.story.paid', { paid });
  const text =
    outcome === 'activated'
      ? t('operator.story.activated', { order: order.code, days: t('operator.days', { count: order.days }) })
      : t('operator.story.not_activated', { order: order.code, outcome: t(`operator.payment_outcome.${outcome}`) });
  const icon = outcome === 'activated' ? 'ok' : flag === undefined ? 'info' : severityOf(flag.kind);
  return ofMoney(paidAt, icon, title, text, flag && resolveLink(flag, t));
}

const refundIcons = { asked: 'waiting', sent: 'waiting', done: 'ok', failed: 'bad' } as const;

function tellRefund(refund: OrderRefund, order: Order, open: readonly OrderFlag[], { t, format }: Words): StoryEntry {
  const { key, amount, currency, createdAt, state, reason } = refund;
  const flag = open.find(({ subject }) => subject === key);
  const title = t('operator.story.refund', { amount: format.money(amount, currency) });
  const text = joinParts(`${order.code}, ${t(`operator.refund_state.${state}`).toLowerCase()}`, t(reason));
  return ofMoney(createdAt, refundIcons[state], title, text, flag && resolveLink(flag, t));
}

function resolveLink({ id }: OrderFlag, t: Words['t']) {
  return { path: `/operator/flags/${id}`, label: t('operator.act.flag.resolve') };
}

/** Leaves out days bought with an order, removed by a refund, or shifted by either: they are listed with the money. */
function isTold({ reason }: LedgerEntry): boolean {
  return reason !== 'order' && reason !== 'refund' && reason !== 'shift';
}

function tellEntry(entry: LedgerEntry, words: Words): StoryEntry {
  const { reason, days, createdAt, endsAt } = entry;
  const { t, format, host } = words;
  const name = t(`operator.ledger_reason.${reason}`);
  const title = isExtension(entry) ? name : `${name}: ${t('operator.days', { count: days })}`;
  const ends = t('operator.pass_ends', { time: format.dayTime(endsAt, new Date(host.now())).text });
  return ofAccess(createdAt, reason === 'revoke' ? 'info' : 'ok', title, joinParts(ledgerNote(entry, words), ends));
}

/** Leaves out notes and granted days, which are shown elsewhere. */
function isOfAccess({ action, outcome }: RecordedAction): boolean {
  return action !== 'account.note' && (action !== 'account.add_days' || outcome !== 'done');
}

const actionIcons = { done: 'info', failed: 'bad', unknown: 'waiting' } as const;

function tellDone(done: RecordedAction, words: Words): StoryEntry {
  const { action, createdAt, operator, outcome } = done;
  const text = joinParts(tellAction(done, words, words.names), operator);
  return ofAccess(createdAt, actionIcons[outcome], tellThatDone(action, words.t), text);
}

/** Ended sessions are missing, because they are deleted. */
function tellAccess({ record, sessions }: StorySources, { t }: Words): StoryEntry[] {
  const { key, createdAt } = record;
  const keyAt = key?.rotatedAt ?? key?.createdAt;
  const isFirst = keyAt === undefined || keyAt.getTime() - createdAt.getTime() < firstKey;
  return [
    ofAccess(createdAt, 'info', t('operator.story.created')),
    ...(isFirst ? [] : [ofAccess(keyAt, 'info', t('operator.story.new_key'), key?.hint)]),
    ...sessions.map((session) =>
      ofAccess(session.createdAt, 'info', t('operator.story.signed_in'), describeDevice(session.userAgent)),
    ),
  ];
}

/** Hours with many rejected or failed requests. */
function tellErrors({ record, hours }: StorySources, { t, format }: Words): StoryEntry[] {
  return hours
    .filter(({ errors }) => errors >= notableErrors)
    .toSorted((one, other) => other.hour - one.hour)
    .slice(0, shown.hours)
    .map(({ hour, requests, refused, failed }) => {
      const query = { account: record.id, show: 'errors', time: '30d', before: createRequestId(hour + hourMs) };
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
          until: format.shortTime(new Date(hour + hourMs)).text,
        }),
        link: { path: `/operator/requests?${new URLSearchParams(query)}`, label: t('operator.story.show') },
      };
    });
}
