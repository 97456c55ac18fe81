import { readAccounts } from '#core/business/accounts/account-record.ts';
import { type LedgerEntry, listLedger } from '#core/business/accounts/ledger-entries.ts';
import { listActions, type RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { severityOfFlag } from '#core/business/payments/flags.ts';
import { issuerTitle } from '#core/business/payments/issuer-title.ts';
import { redeemerOf } from '#core/business/payments/order-codes.ts';
import {
  type AttemptTrail,
  listAttempts,
  listNotifications,
  type NotificationTrail,
} from '#core/business/payments/order-trail.ts';
import {
  type Order,
  type OrderFlag,
  type OrderRefund,
  type Payment,
  paymentOutcomes,
  computeRefundable,
} from '#core/business/payments/order-types.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { subjectActionsView } from './action-table.ts';
import { defineView, type EntryTable, type FieldReader } from './field.ts';
import { ledgerView } from './ledger.ts';

const describeOutcome = ({ outcome }: Payment, { t }: FieldReader) => t(`operator.payment_outcome.${outcome}`);

/** Describes the payment or refund that a flag is about. Returns any other subject unchanged, or '' if it is an internal id. */
function describeFlaggedMoney({ payments, refunds }: Order, subject: string, { t, format }: FieldReader): string {
  const payment = payments.find(({ id, paymentId }) => id === subject || paymentId === subject);
  const money = payment ?? refunds.find(({ key }) => key === subject);
  if (money === undefined) return uuid.test(subject) ? '' : subject;
  const amount = format.money(money.amount, money.currency);
  return t(payment === undefined ? 'operator.about_refund' : 'operator.about_payment', { amount });
}

const createFlagsView = (order: Order) =>
  defineView<OrderFlag>()(
    {
      flag: { type: 'id', of: 'id' },
      kind: {
        type: 'state',
        label: 'operator.flag_kind',
        at: 'title',
        of: 'kind',
        cell: ({ kind, resolvedAt: at }, { t }) => ({
          text: t(`operator.flag.${kind}`),
          kind: at === undefined ? severityOfFlag(kind) : 'ok',
        }),
      },
      about: {
        type: 'id',
        fit: 'id',
        at: 'hide',
        of: 'subject',
        cell: ({ subject }, reader) => describeFlaggedMoney(order, subject, reader),
      },
      since: { type: 'time', label: 'operator.fact.since', at: 'note', of: 'createdAt' },
      resolved: { type: 'time', at: 'end', of: 'resolvedAt' },
      outcome: { type: 'text', of: 'outcome' },
      resolution: {
        type: 'text',
        fit: 'text',
        at: 'below',
        of: 'resolution',
        cell: ({ outcome, resolution }, { t }) =>
          [outcome && t(`operator.flag_outcome.${outcome}`), resolution && t(resolution)].filter(Boolean).join(' · '),
      },
    },
    ['flag', 'since', 'kind', 'about', 'resolved', 'outcome', 'resolution'],
  );

const paymentKinds = Object.fromEntries(
  paymentOutcomes.map((outcome) => [outcome, outcome === 'activated' ? 'ok' : 'bad'] as const),
);

export const createPaymentsView = (order: Order) =>
  defineView<Payment>()(
    {
      payment: { type: 'id', of: 'id' },
      paid: { type: 'time', label: 'operator.fact.paid', at: 'note', of: 'paidAt' },
      from: {
        type: 'text',
        label: 'operator.issuer',
        at: 'note-end',
        of: 'issuer',
        cell: ({ issuer }) => issuer && issuerTitle(issuer),
      },
      outcome: { type: 'state', texts: 'operator.payment_outcome', kinds: paymentKinds, at: 'title', of: 'outcome' },
      amount: { type: 'money', at: 'end', value: (payment) => payment },
      left: { type: 'money', value: (payment) => ({ ...payment, amount: computeRefundable(order, payment) }) },
      reference: {
        type: 'id',
        label: 'operator.payment',
        heading: 'at the provider',
        fit: 'id',
        at: 'hide',
        of: 'paymentId',
      },
    },
    ['payment', 'paid', 'amount', 'outcome', 'left', 'reference', 'from'],
  );

const refundKinds = { asked: 'waiting', sent: 'waiting', done: 'ok', failed: 'bad' } as const;

const createRefundsView = ({ payments }: Order) =>
  defineView<OrderRefund>()(
    {
      created: { type: 'time', at: 'note', of: 'createdAt' },
      state: { type: 'state', at: 'title', texts: 'operator.refund_state', kinds: refundKinds, of: 'state' },
      payment: {
        type: 'id',
        heading: 'of payment',
        at: 'note-end',
        of: 'paymentId',
        cell({ paymentId }, reader) {
          const payment = payments.find(({ id }) => id === paymentId);
          return payment && describeOutcome(payment, reader);
        },
      },
      days: { type: 'text', of: 'days' },
      by: {
        type: 'text',
        at: 'hide',
        value: ({ isManual }) => (isManual ? 'operator' : 'provider'),
        cell: ({ isManual }, { t }) => t(isManual ? 'operator.by_operator' : 'operator.by_provider'),
      },
      refund: { type: 'id', label: 'operator.reference', fit: 'id', at: 'hide', of: 'key' },
      reason: { type: 'text', fit: 'text', at: 'below', isSentence: true, of: 'reason' },
      amount: { type: 'money', at: 'end', value: (refund) => refund },
    },
    ['refund', 'payment', 'created', 'amount', 'state', 'days', 'by', 'reason'],
  );

const statedKinds = { pending: 'waiting', paid: 'ok', refunded: 'info', disputed: 'bad', failed: 'bad' } as const;

const attemptsView = defineView<AttemptTrail>()(
  {
    reference: { type: 'id', fit: 'id', at: 'title', of: 'reference' },
    created: { type: 'time', at: 'note', of: 'createdAt' },
    charge: { type: 'state', texts: 'operator.stated', at: 'hide', of: 'charge' },
    state: { type: 'state', label: 'operator.stated', kinds: statedKinds, at: 'end', of: 'state' },
    checks: { type: 'count', at: 'hide', of: 'checks' },
    next_check: { type: 'time', at: 'hide', of: 'nextCheckAt' },
    error: { type: 'text', fit: 'text', at: 'hide', of: 'error' },
    amount: { type: 'money', at: 'note-end', value: (attempt) => attempt },
  },
  ['reference', 'created', 'charge', 'state', 'amount', 'checks', 'next_check', 'error'],
);

const notificationsView = defineView<NotificationTrail>()({
  received: { type: 'time', at: 'note', of: 'receivedAt' },
  reference: { type: 'id', fit: 'id', at: 'title', of: 'reference' },
  tries: { type: 'count', at: 'note-end', isNamed: true, of: 'tries' },
  outcome: {
    type: 'state',
    at: 'end',
    value: ({ outcome = 'waiting' }) => outcome,
    cell: ({ outcome }, { t }) =>
      outcome === undefined ? { text: t('operator.waiting'), kind: 'waiting' } : t(`operator.stated.${outcome}`),
  },
});

const maxActions = 100;

export interface OrderDetails {
  readonly order: Order;
  /** The buyer; named `owner` because the JSON output of commands and the API uses that name. */
  readonly owner: { readonly name: string; readonly email: string | undefined } | undefined;
  readonly attempts: readonly AttemptTrail[];
  readonly notifications: readonly NotificationTrail[]; // only the newest ones
  readonly earlierNotifications: number;
  readonly ledger: readonly LedgerEntry[]; // of the account that got the days
  readonly actions: readonly RecordedAction[];
}

export async function readOrderDetails(database: Queries, order: Order): Promise<OrderDetails> {
  const { id, accountId } = order;
  const [[account], attemptTrail, { notifications, earlierCount }, ledger, actions] = await Promise.all([
    readAccounts(database, 'id', [accountId]),
    listAttempts(database, id),
    listNotifications(database, id),
    listLedger(database, redeemerOf(order) ?? accountId, id),
    listActions(database, { subject: id, limit: maxActions }),
  ]);
  const owner = account && { name: account.name, email: account.email };
  return {
    order,
    owner,
    attempts: attemptTrail,
    notifications,
    earlierNotifications: earlierCount,
    ledger,
    actions,
  };
}

export const describeOrderTables = (details: OrderDetails): EntryTable[] => [
  { name: 'flags', entries: details.order.flags, view: createFlagsView(details.order) },
  { name: 'payments', entries: details.order.payments, view: createPaymentsView(details.order) },
  { name: 'refunds', entries: details.order.refunds, view: createRefundsView(details.order) },
  { name: 'attempts', entries: details.attempts, view: attemptsView },
  {
    name: 'notifications',
    entries: details.notifications,
    earlierCount: details.earlierNotifications,
    view: notificationsView,
  },
  { name: 'ledger', entries: details.ledger, view: ledgerView },
  { name: 'actions', entries: details.actions, maxEntries: maxActions, view: subjectActionsView },
];
