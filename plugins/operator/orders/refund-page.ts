import { getCoreAction } from '#core/business/operator-actions/actions.ts';
import { isRefundInProgress } from '#core/business/payments/order-types.ts';
import { computeRefundable } from '#core/business/payments/order.ts';
import { plainPage, type PageSubject } from '#core/web/actions/plain-page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { describeEntryFacts } from '#core/web/resources/field.ts';
import { createPaymentsView } from '#core/web/resources/order-parts.ts';
import { requireOrder } from './order-page.ts';

export const refundPage: Page = plainPage(
  getCoreAction('order.refund'),
  { path: '/operator/orders/{code}', find: findPayment },
  { path: '/operator/orders/{code}/refund/{payment}', errors: { too_much: 'amount' } },
);

/** @throws PageError 404; 409 if the payment has been refunded in full, or a refund is in progress */
async function findPayment(request: PageRequest): Promise<PageSubject> {
  const { t, format } = request;
  const order = await requireOrder(request);
  const path = `/operator/orders/${order.code}`;
  const payment = order.payments.find(({ id }) => id === request.params['payment']);
  const refundableAmount = payment === undefined ? 0 : computeRefundable(order, payment);
  const action = { path, label: 'operator.order' } as const;
  if (payment === undefined || refundableAmount === 0)
    throw new PageError(payment === undefined ? 404 : 409, 'operator.not_paid', { action });
  if (isRefundInProgress(order, payment)) throw new PageError(409, 'operator.act.error.refund_open', { action });
  const amount = format.money(refundableAmount, payment.currency);
  const gaveDays = payment.outcome === 'activated';
  return {
    id: order.id,
    name: order.code,
    path,
    question: t('operator.act.order.refund.question', { amount, order: order.code }),
    text: t(gaveDays ? 'operator.act.order.refund.text' : 'operator.refund_text_no_days'),
    facts: describeEntryFacts(request, payment, createPaymentsView(order).pick('outcome', 'paid', 'reference')),
    fields: {
      amount: { value: refundableAmount, hint: t('operator.act.order.refund.amount_hint', { amount }) },
      days_back: gaveDays && {},
    },
  };
}
