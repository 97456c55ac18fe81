import type { PageRequest } from '#core/web/pages/page.ts';
import { severityOf } from '#core/business/payments/flags.ts';
import type { OrderFlag, OrderRefund, Payment } from '#core/business/payments/order-types.ts';
import type { AttemptTrail, NotificationTrail } from '#core/business/payments/order-trail.ts';
import { uuid } from '#core/platform/database/database.ts';
import type { TableCell, TableSection } from '../table-section.ts';

type Reader = Pick<PageRequest, 't' | 'format'>;

/** @param payments of the order: a flag names its money by what came, not by an id */
export function flagTable(
  flags: readonly OrderFlag[],
  payments: readonly Payment[],
  refunds: readonly OrderRefund[],
  { t, format }: Reader,
): TableSection {
  const about = (subject: string) => {
    const payment = payments.find(({ id, paymentId }) => id === subject || paymentId === subject);
    const money = payment ?? refunds.find(({ key }) => key === subject);
    if (money === undefined) return uuid.test(subject) ? '' : subject;
    const amount = format.money(money.amount, money.currency);
    return t(payment === undefined ? 'operator.about_refund' : 'operator.about_payment', { amount });
  };
  return {
    id: 'flags',
    title: t('operator.flags'),
    columns: [
      { label: t('operator.flag_kind'), at: 'title' },
      { label: t('operator.about'), fit: 'id', at: 'hide' },
      { label: t('operator.fact.since'), at: 'note' },
      { label: t('operator.resolved'), at: 'end' },
      { label: t('operator.resolution'), fit: 'text', at: 'below' },
    ],
    rows: flags.map(({ kind, subject, createdAt, resolvedAt, resolution }) => [
      { text: t(`operator.flag.${kind}`), kind: resolvedAt === undefined ? severityOf(kind) : 'ok' },
      { text: about(subject) },
      { ...format.dayTime(createdAt) },
      optionalTime(resolvedAt, format),
      { text: resolution ?? '' },
    ]),
  };
}

export function paymentTable(payments: readonly Payment[], { t, format }: Reader): TableSection {
  return {
    id: 'payments',
    title: t('operator.payments'),
    columns: [
      { label: t('operator.fact.paid'), at: 'note' },
      { label: t('operator.issuer'), at: 'note-end' },
      { label: t('operator.outcome'), at: 'title' },
      { label: t('operator.amount'), at: 'end', isNumber: true },
      { label: t('operator.payment'), fit: 'id', at: 'hide' },
    ],
    rows: payments.map(({ paidAt, paymentId, issuer, outcome, amount, currency }) => [
      { ...format.dayTime(paidAt) },
      { text: issuer ?? '' },
      { text: t(`operator.payment_outcome.${outcome}`), kind: outcome === 'activated' ? 'ok' : 'bad' },
      { text: format.money(amount, currency) },
      { text: paymentId, isCode: true },
    ]),
  };
}

const refundKinds = { asked: 'waiting', sent: 'waiting', done: 'ok', failed: 'bad' } as const;

export function refundTable(refunds: readonly OrderRefund[], { t, format }: Reader): TableSection {
  return {
    id: 'refunds',
    title: t('operator.refunds'),
    columns: [
      { label: t('operator.created'), at: 'note' },
      { label: t('operator.state'), at: 'title' },
      { label: t('operator.by'), at: 'hide' },
      { label: t('operator.reason'), fit: 'text', at: 'below' },
      { label: t('operator.amount'), at: 'end', isNumber: true },
    ],
    rows: refunds.map(({ createdAt, state, isManual, reason, amount, currency }) => [
      { ...format.dayTime(createdAt) },
      { text: t(`operator.refund_state.${state}`), kind: refundKinds[state] },
      { text: t(isManual ? 'operator.by_operator' : 'operator.by_provider') },
      { text: reason },
      { text: format.money(amount, currency) },
    ]),
  };
}

const statedKinds: Readonly<Record<string, TableCell['kind']>> = {
  pending: 'waiting',
  paid: 'ok',
  refunded: 'info',
  disputed: 'bad',
  failed: 'bad',
};

export function attemptTable(attempts: readonly AttemptTrail[], { t, format }: Reader): TableSection {
  return {
    id: 'attempts',
    title: t('operator.attempts'),
    columns: [
      { label: t('operator.reference'), fit: 'id', at: 'title' },
      { label: t('operator.created'), at: 'note' },
      { label: t('operator.charge'), at: 'hide' },
      { label: t('operator.stated'), at: 'end' },
      { label: t('operator.checks'), at: 'hide', isNumber: true },
      { label: t('operator.next_check'), at: 'hide' },
      { label: t('operator.error'), fit: 'text', at: 'hide' },
      { label: t('operator.amount'), at: 'note-end', isNumber: true },
    ],
    rows: attempts.map((attempt) => [
      { text: attempt.reference, isCode: true },
      { ...format.dayTime(attempt.createdAt) },
      { text: t(`operator.stated.${attempt.charge}`) },
      { text: t(`operator.stated.${attempt.state}`), kind: statedKinds[attempt.state] },
      { text: format.number(attempt.checks) },
      optionalTime(attempt.nextCheckAt, format),
      { text: attempt.error ?? '' },
      { text: format.money(attempt.amount, attempt.currency) },
    ]),
  };
}

export function notificationTable(notifications: readonly NotificationTrail[], { t, format }: Reader): TableSection {
  return {
    id: 'notifications',
    title: t('operator.notifications'),
    columns: [
      { label: t('operator.received'), at: 'note' },
      { label: t('operator.reference'), fit: 'id', at: 'title' },
      { label: t('operator.tries'), at: 'note-end', isNumber: true },
      { label: t('operator.outcome'), at: 'end' },
    ],
    rows: notifications.map(({ receivedAt, reference, tries, outcome }) => [
      { ...format.dayTime(receivedAt) },
      { text: reference, isCode: true },
      { text: format.number(tries) },
      outcome === undefined
        ? { text: t('operator.waiting'), kind: 'waiting' as const }
        : { text: t(`operator.stated.${outcome}`) },
    ]),
  };
}

function optionalTime(time: Date | undefined, format: Reader['format']): TableCell {
  return time === undefined ? { text: '' } : { ...format.dayTime(time) };
}
