import { issuerTitle } from '#core/business/payments/issuer-title.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { severityOf } from '#core/business/payments/flags.ts';
import type { OrderFlag, OrderRefund, Payment } from '#core/business/payments/order-types.ts';
import type { AttemptTrail, NotificationTrail } from '#core/business/payments/order-trail.ts';
import { uuid } from '#core/platform/database/database.ts';
import { describeTable, type TableCell, type TableSection } from '#core/web/pages/table.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'host'>;

const amountColumn = { label: 'operator.amount', at: 'end', isNumber: true } as const;
const referenceColumn = { label: 'operator.reference', fit: 'id', at: 'title' } as const;

/** @param payments of the order: a flag names its money by what came, not by an id */
export function flagTable(
  flags: readonly OrderFlag[],
  payments: readonly Payment[],
  refunds: readonly OrderRefund[],
  reader: Reader,
): TableSection {
  const { t, format } = reader;
  const about = (subject: string) => {
    const payment = payments.find(({ id, paymentId }) => id === subject || paymentId === subject);
    const money = payment ?? refunds.find(({ key }) => key === subject);
    if (money === undefined) return uuid.test(subject) ? '' : subject;
    const amount = format.money(money.amount, money.currency);
    return t(payment === undefined ? 'operator.about_refund' : 'operator.about_payment', { amount });
  };
  const nameOf = ({ kind, resolvedAt }: OrderFlag): TableCell => ({
    text: t(`operator.flag.${kind}`),
    kind: resolvedAt === undefined ? severityOf(kind) : 'ok',
  });
  const resolutionOf = ({ outcome, resolution }: OrderFlag) =>
    [outcome && t(`operator.flag_outcome.${outcome}`), resolution && t(resolution)].filter(Boolean).join(' · ');
  return describeTable(reader, 'flags', 'operator.flags', flags, [
    { label: 'operator.flag_kind', at: 'title', cell: nameOf },
    { label: 'operator.about', fit: 'id', at: 'hide', cell: ({ subject }) => about(subject) },
    { label: 'operator.fact.since', at: 'note', cell: ({ createdAt }) => createdAt },
    { label: 'operator.resolved', at: 'end', cell: ({ resolvedAt }) => resolvedAt },
    { label: 'operator.resolution', fit: 'text', at: 'below', cell: resolutionOf },
  ]);
}

export function paymentTable(payments: readonly Payment[], reader: Reader): TableSection {
  const { t, format } = reader;
  const outcomeOf = ({ outcome }: Payment): TableCell => ({
    text: t(`operator.payment_outcome.${outcome}`),
    kind: outcome === 'activated' ? 'ok' : 'bad',
  });
  return describeTable(reader, 'payments', 'operator.payments', payments, [
    { label: 'operator.fact.paid', at: 'note', cell: ({ paidAt }) => paidAt },
    { label: 'operator.issuer', at: 'note-end', cell: ({ issuer }) => issuer && issuerTitle(issuer) },
    { label: 'operator.outcome', at: 'title', cell: outcomeOf },
    { ...amountColumn, cell: ({ amount, currency }) => format.money(amount, currency) },
    { label: 'operator.payment', fit: 'id', at: 'hide', cell: ({ paymentId }) => ({ text: paymentId, isCode: true }) },
  ]);
}

const refundKinds = { asked: 'waiting', sent: 'waiting', done: 'ok', failed: 'bad' } as const;

export function refundTable(
  refunds: readonly OrderRefund[],
  payments: readonly Payment[],
  reader: Reader,
): TableSection {
  const { t, format } = reader;
  const outcomeOf = ({ paymentId }: OrderRefund) => {
    const payment = payments.find(({ id }) => id === paymentId);
    return payment && t(`operator.payment_outcome.${payment.outcome}`);
  };
  const stateOf = ({ state }: OrderRefund) => ({ text: t(`operator.refund_state.${state}`), kind: refundKinds[state] });
  return describeTable(reader, 'refunds', 'operator.refunds', refunds, [
    { label: 'operator.created', at: 'note', cell: ({ createdAt }) => createdAt },
    { label: 'operator.state', at: 'title', cell: stateOf },
    { label: 'operator.payment', at: 'note-end', cell: outcomeOf },
    {
      label: 'operator.by',
      at: 'hide',
      cell: ({ isManual }) => t(isManual ? 'operator.by_operator' : 'operator.by_provider'),
    },
    { label: 'operator.reference', fit: 'id', at: 'hide', cell: ({ key }) => ({ text: key, isCode: true }) },
    { label: 'operator.reason', fit: 'text', at: 'below', cell: ({ reason }) => t(reason) },
    { ...amountColumn, cell: ({ amount, currency }) => format.money(amount, currency) },
  ]);
}

const statedKinds: Readonly<Record<string, TableCell['kind']>> = {
  pending: 'waiting',
  paid: 'ok',
  refunded: 'info',
  disputed: 'bad',
  failed: 'bad',
};

export function attemptTable(attempts: readonly AttemptTrail[], reader: Reader): TableSection {
  const { t, format } = reader;
  const stateOf = ({ state }: AttemptTrail) => ({ text: t(`operator.stated.${state}`), kind: statedKinds[state] });
  return describeTable(reader, 'attempts', 'operator.attempts', attempts, [
    { ...referenceColumn, cell: ({ reference }) => ({ text: reference, isCode: true }) },
    { label: 'operator.created', at: 'note', cell: ({ createdAt }) => createdAt },
    { label: 'operator.charge', at: 'hide', cell: ({ charge }) => t(`operator.stated.${charge}`) },
    { label: 'operator.stated', at: 'end', cell: stateOf },
    { label: 'operator.checks', at: 'hide', isNumber: true, cell: ({ checks }) => checks },
    { label: 'operator.next_check', at: 'hide', cell: ({ nextCheckAt }) => nextCheckAt },
    { label: 'operator.error', fit: 'text', at: 'hide', cell: ({ error }) => error },
    { ...amountColumn, at: 'note-end', cell: ({ amount, currency }) => format.money(amount, currency) },
  ]);
}

export function notificationTable(notifications: readonly NotificationTrail[], reader: Reader): TableSection {
  const { t } = reader;
  const outcomeOf = ({ outcome }: NotificationTrail): TableCell =>
    outcome === undefined
      ? { text: t('operator.waiting'), kind: 'waiting' }
      : { text: t(`operator.stated.${outcome}`) };
  return describeTable(reader, 'notifications', 'operator.notifications', notifications, [
    { label: 'operator.received', at: 'note', cell: ({ receivedAt }) => receivedAt },
    { ...referenceColumn, cell: ({ reference }) => ({ text: reference, isCode: true }) },
    { label: 'operator.tries', at: 'note-end', isNumber: true, isNamed: true, cell: ({ tries }) => tries },
    { label: 'operator.outcome', at: 'end', cell: outcomeOf },
  ]);
}
