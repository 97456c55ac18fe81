import { computeDecisionDeadline, isDecisionPromised } from '#core/business/payments/flags.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { countChecks, readOldestUnconfirmed } from '#core/business/payments/payment-figures.ts';
import type { ProblemAlert } from './problem.ts';

export const flaggedAlert: ProblemAlert = {
  event: 'order.flagged',
  async compose({ orderId = '', flagId, reason = '' }, { host, t, format }) {
    const order = await readOrder(host.database, { id: orderId });
    if (order === undefined) return 'the order was not found';
    const flag = order.flags.find(({ id }) => id === flagId);
    if (flag?.resolvedAt !== undefined) return 'the flag is resolved';
    const transaction =
      order.payments.find(({ paymentId, outcome }) =>
        reason === 'deleted_account' ? outcome === 'activated' : paymentId === flag?.subject,
      ) ?? order.refunds.find(({ key }) => key === flag?.subject);
    const money =
      transaction === undefined ? undefined : { amount: transaction.amount, currency: transaction.currency };
    const dueAt = isDecisionPromised(reason)
      ? computeDecisionDeadline(host, flag?.createdAt ?? order.readAt)
      : undefined;
    return {
      title: t('alert.flagged.title', { code: order.code, reason: t(`alert.reason.${reason}`) }),
      text: t('alert.flagged.text'),
      facts: [
        [t('operator.order'), order.code],
        [t('alert.price'), format.money(order.price, order.currency)],
        ...(money === undefined ? [] : [[t('alert.money'), format.money(money.amount, money.currency)] as const]),
        ...(dueAt === undefined ? [] : [[t('alert.due'), format.time(dueAt).text] as const]),
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
        decide_by: dueAt?.toISOString() ?? null,
      },
    };
  },
};

/** Reports money that belongs to no order, once a day per provider. */
export const foreignAlert: ProblemAlert = {
  event: 'payment.unknown',
  async compose({ provider = '', kind = 'payment', currency = 'IDR', amount }, { t, format }) {
    const texts = kind === 'refund' ? 'unknown_refund' : 'unknown';
    return {
      title: t(`alert.${texts}.title`, { provider }),
      text: t(`alert.${texts}.text`),
      facts: [[t('alert.money'), format.money(Number(amount), currency)]],
      path: '/operator/flags',
      data: { provider, kind, money: { amount: Number(amount), currency } },
    };
  },
};

export const unconfirmedAlert: ProblemAlert = {
  event: 'payments.delayed',
  isWatched: true,
  async compose({ since }, { host, t, format }) {
    const oldest = await readOldestUnconfirmed(host.database);
    if (oldest === undefined) return 'all payments are confirmed';
    const { notifications } = await countChecks(host.database);
    return {
      title: t('alert.delayed.title'),
      text: t('problem.unconfirmed.text'),
      facts: [
        [t('alert.waiting'), format.number(notifications)],
        [t('alert.since'), format.time(new Date(oldest)).text],
      ],
      path: '/operator',
      data: { waiting: notifications, since: since ?? null },
    };
  },
};
