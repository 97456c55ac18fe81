import { getPaymentProviders } from '#core/business/payments/connections.ts';
import { issuerTitle } from '#core/business/payments/issuer-title.ts';
import { describeOrderLine, readOrderLines } from '#core/business/payments/order-lines.ts';
import type { Order } from '#core/business/payments/order.ts';
import { loadReceiptSteps } from '#core/business/payments/receipts.ts';
import { formatContact } from '#core/gateway/host/contact.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { accountOf, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { formatPlan } from './gift.ts';
import { describeDaysLeft, describeRefunds, readOwnOrder, describeRefundsTitle } from './order-view.ts';

export const receiptPage: Page = {
  path: '/orders/{code}/receipt',
  role: 'account',
  layout: 'plain',
  title: 'payments.receipt.title',
  note: 'payments.order_number',
  template: 'payments/receipt.eta',
  styles: ['payments/payments.css'],
  scripts: ['payments/payments.js'],
  async show(request) {
    const order = await readOwnOrder(request);
    if (order.paidAt === undefined) throw new PageError(404, 'payments.receipt.unpaid');
    const { database } = request.host;
    const receipts = (await (await loadReceiptSteps(database))?.listReceipts(database, order.id)) ?? [];
    const paymentReceipts = receipts.filter(({ kind }) => kind === 'payment');
    // If the order is older than stored receipts, only a later payment may have one.
    const activated = order.payments.find(({ outcome }) => outcome === 'activated');
    const activationReceipt =
      activated === undefined
        ? paymentReceipts[0]
        : paymentReceipts.find(({ paymentId }) => paymentId === activated.id);
    if (activationReceipt !== undefined) return new Redirect(activationReceipt.path);
    const lines = await readOrderLines(database, order.id);
    const isSandbox = getPaymentProviders(request.host).get(order.provider)?.isSandbox === true;
    const contact = formatContact(request.host.service) ?? '';
    return {
      code: order.code,
      contact,
      isSandbox,
      isRefunded: order.state === 'refunded',
      others: paymentReceipts.map(({ path, number }) => ({
        path,
        number: number ?? request.t('payments.receipt.open'),
      })),
      ...describeReceipt(order, request),
      lines: lines.map((line) => describeOrderLine(line, request.language)),
    };
  },
};

function describeReceipt(order: Order, request: PageRequest) {
  const { t, format } = request;
  const { name, email } = accountOf(request);
  const payment = order.payments.find(({ outcome }) => outcome === 'activated');
  const { period, paidAt } = order;
  return {
    paidAt: paidAt === undefined ? undefined : format.time(paidAt),
    buyer: [name, email].filter((part) => part !== undefined).join(', '),
    plan: formatPlan(order, request),
    active:
      // After a full refund, the period has zero length.
      period === undefined || period.startsAt >= period.endsAt
        ? ''
        : t('payments.receipt.from_to', {
            from: format.time(period.startsAt).text,
            to: format.time(period.endsAt).text,
          }),
    method: ['QRIS', payment?.issuer && issuerTitle(payment.issuer)].filter((part) => part !== undefined).join(', '),
    reference: payment?.paymentId ?? '',
    total: format.money(payment?.amount ?? order.price, payment?.currency ?? order.currency),
    // Omitted for gifts, because the order's page shows whether a gift was redeemed.
    refundedMore: order.isGift ? '' : describeDaysLeft(order, request),
    refunds: describeRefunds(order, request),
    refundsTitle: describeRefundsTitle(order, request),
  };
}
