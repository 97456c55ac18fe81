import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { type Order, type Payment, refundable } from '#core/business/payments/order.ts';
import { waysOfDaysBack } from '#core/business/payments/order-types.ts';
import { refundPayment } from '#core/business/payments/refunds.ts';
import { actionPage, refusal } from '../action-page.ts';
import { requireOrder } from './order-page.ts';

/** `/operator/orders/{code}/refund/{payment}`: pays one payment back, in full or in part. */
export const refundPage: Page = actionPage({
  path: '/operator/orders/{code}/refund/{payment}',
  title: 'operator.refund',
  action: 'order.refund',
  needsNote: true,
  async ask(request) {
    const { t, format } = request;
    const { order, payment, left } = await requirePayment(request);
    const amount = format.money(left, payment.currency);
    return {
      question: t('operator.refund_question', { amount, order: order.code }),
      text: t('operator.refund_text'),
      facts: [
        { name: t('operator.outcome'), value: t(`operator.payment_outcome.${payment.outcome}`) },
        { name: t('operator.fact.paid'), value: format.time(payment.paidAt).text },
        { name: t('operator.payment'), value: payment.paymentId },
      ],
      label: t('operator.refund'),
      isDanger: true,
      back: `/operator/orders/${order.code}`,
      amount: { label: t('operator.refund_amount'), hint: t('operator.refund_amount_hint', { amount }), max: left },
      ...(payment.outcome === 'activated' && {
        choice: {
          label: t('operator.refund_days'),
          hint: t('operator.refund_days_hint'),
          options: waysOfDaysBack.map((value) => ({ value, label: t(`operator.refund_days.${value}`) })),
        },
      }),
      note: { label: t('operator.reason'), hint: t('operator.refund_hint') },
      manual: { label: t('operator.refund_manual'), hint: t('operator.refund_manual_hint') },
    };
  },
  subject: async (request) => (await requireOrder(request)).id,
  async perform(request, { note, amount, choice, isManual }) {
    const { order, payment } = await requirePayment(request);
    const days = waysOfDaysBack.find((one) => one === choice);
    try {
      const { refund } = await refundPayment(request.host, payment.id, { amount, days, reason: note, isManual });
      if (refund.state === 'failed') throw refusal({ '': 'operator.refund_failed' }, 'the provider did not refund');
      return `/operator/orders/${order.code}`;
    } catch (error) {
      if (!(error instanceof CheckoutError)) throw error;
      if (error.kind === 'too_much') throw refusal({ amount: 'operator.refund_too_much' }, error.message);
      throw refusal({ '': error.kind === 'refund_open' ? 'operator.refund_open' : 'operator.not_paid' }, error.message);
    }
  },
});

/** @throws PageError 404, 409 when nothing of it is left */
async function requirePayment(request: PageRequest): Promise<{ order: Order; payment: Payment; left: number }> {
  const order = await requireOrder(request);
  const payment = order.payments.find(({ id }) => id === request.params['payment']);
  const left = payment === undefined ? 0 : refundable(order, payment);
  if (payment !== undefined && left > 0) return { order, payment, left };
  const action = { path: `/operator/orders/${order.code}`, label: 'operator.order' } as const;
  throw new PageError(payment === undefined ? 404 : 409, 'operator.not_paid', { action });
}
