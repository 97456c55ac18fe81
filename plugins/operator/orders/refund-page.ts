import type { Page } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { refundOrder } from '#core/business/payments/refunds.ts';
import { actionPage, refusal } from '../action-page.ts';
import { requireOrder } from './order-page.ts';

/** `/operator/orders/{code}/refund`: pays an order back. */
export const refundPage: Page = actionPage({
  path: '/operator/orders/{code}/refund',
  title: 'operator.refund',
  action: 'order.refund',
  needsNote: true,
  async ask(request) {
    const { t, format } = request;
    const order = await requireOrder(request);
    const path = `/operator/orders/${order.code}`;
    if (order.state !== 'paid')
      throw new PageError(409, 'operator.not_paid', { action: { path, label: 'operator.order' } });
    return {
      question: t('operator.refund_question', { amount: format.money(order.price, order.currency), order: order.code }),
      text: t('operator.refund_text'),
      facts: [],
      label: t('operator.refund'),
      isDanger: true,
      back: path,
      note: { label: t('operator.reason'), hint: t('operator.refund_hint') },
      manual: { label: t('operator.refund_manual'), hint: t('operator.refund_manual_hint') },
    };
  },
  subject: async (request) => (await requireOrder(request)).id,
  async perform(request, { note, isManual }, orderId) {
    try {
      const { code, refunds } = await refundOrder(request.host, orderId, { reason: note, isManual });
      if (refunds.at(-1)?.state === 'failed')
        throw refusal({ '': 'operator.refund_failed' }, 'the provider did not refund');
      return `/operator/orders/${code}`;
    } catch (error) {
      if (error instanceof CheckoutError) throw refusal({ '': 'operator.not_paid' }, error.message);
      throw error;
    }
  },
});
