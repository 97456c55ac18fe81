import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { type Order, type Payment, refundable } from '#core/business/payments/order.ts';
import { isUnderWay, waysOfDaysBack } from '#core/business/payments/order-types.ts';
import { type ActionField, actionPage } from '#core/web/actions/action-page.ts';
import { coreAction } from '#core/business/operator-actions/actions.ts';
import { requireOrder } from './order-page.ts';

/** `/operator/orders/{code}/refund/{payment}`: pays one payment back, in full or in part. */
export const refundPage: Page = actionPage({
  path: '/operator/orders/{code}/refund/{payment}',
  title: 'operator.refund',
  action: coreAction('order.refund'),
  async ask(request) {
    const { t, format } = request;
    const { order, payment, left } = await requirePayment(request);
    const amount = format.money(left, payment.currency);
    return {
      question: t('operator.refund_question', { amount, order: order.code }),
      text: t(payment.outcome === 'activated' ? 'operator.refund_text' : 'operator.refund_text_no_days'),
      facts: [
        { name: t('operator.outcome'), value: t(`operator.payment_outcome.${payment.outcome}`) },
        { name: t('operator.fact.paid'), value: format.time(payment.paidAt).text },
        { name: t('operator.payment'), value: payment.paymentId },
      ],
      label: t('operator.refund'),
      isDanger: true,
      back: `/operator/orders/${order.code}`,
      fields: [
        {
          name: 'amount',
          label: t('operator.refund_amount'),
          hint: t('operator.refund_amount_hint', { amount }),
          value: left,
        },
        ...(payment.outcome === 'activated' ? [chooseDays(t)] : []),
        { name: 'note', label: t('operator.reason'), hint: t('operator.refund_hint') },
        { name: 'manual', label: t('operator.refund_manual'), hint: t('operator.refund_manual_hint') },
      ],
    };
  },
  subject: async (request) => (await requirePayment(request)).order.id,
  words: ({ amount, choice, isManual, note }, { params }) => ({
    payment: params['payment'] ?? '',
    amount,
    days_back: waysOfDaysBack.find((one) => one === choice),
    ...(isManual && { manual: true }),
    note,
  }),
  next: async (request) => `/operator/orders/${(await requireOrder(request)).code}`,
  errors: {
    too_much: ['amount', 'operator.refund_too_much'],
    not_refunded: ['', 'operator.refund_failed'],
    refund_open: ['', 'operator.refund_open'],
    nothing_to_refund: ['', 'operator.not_paid'],
  },
});

/** As commands and the API do without it: a part, sent without a thought about days, must take none. */
function chooseDays(t: PageRequest['t']): ActionField {
  const options = ['', ...waysOfDaysBack].map((value) => ({
    value,
    label: t(`operator.refund_days.${value === '' ? 'usual' : value}`),
  }));
  return { name: 'choice', label: t('operator.refund_days'), hint: t('operator.refund_days_hint'), options };
}

/** @throws PageError 404; 409 when nothing of it is left, or a refund of it is under way */
async function requirePayment(request: PageRequest): Promise<{ order: Order; payment: Payment; left: number }> {
  const order = await requireOrder(request);
  const payment = order.payments.find(({ id }) => id === request.params['payment']);
  const left = payment === undefined ? 0 : refundable(order, payment);
  if (payment !== undefined && left > 0 && !isUnderWay(order, payment)) return { order, payment, left };
  const action = { path: `/operator/orders/${order.code}`, label: 'operator.order' } as const;
  if (payment !== undefined && left > 0) throw new PageError(409, 'operator.refund_open', { action });
  throw new PageError(payment === undefined ? 404 : 409, 'operator.not_paid', { action });
}
