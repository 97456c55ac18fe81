import { listMails } from '#core/business/mail/mails.ts';
import { severityOfFlag } from '#core/business/payments/flags.ts';
import { redeemerOf } from '#core/business/payments/order-codes.ts';
import { describeOrderLine, readOrderLines } from '#core/business/payments/order-lines.ts';
import { isRefundInProgress } from '#core/business/payments/order-types.ts';
import { type Order, readOrder, computeRefundable } from '#core/business/payments/order.ts';
import { loadReceiptSteps } from '#core/business/payments/receipts.ts';
import { readAccountNames } from '#core/web/pages/account-name.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { omitEmptySections } from '#core/web/pages/table.ts';
import { describeEntryFacts, describeEntryTables, fieldTable } from '#core/web/resources/field.ts';
import { subjectMailFields } from '#core/web/resources/mails.ts';
import { describeOrderTables, readOrderDetails } from '#core/web/resources/order-parts.ts';
import { orderFactNames, orderView, describeState } from '#core/web/resources/orders.ts';

const maxMails = 50;
export const ordersLink = { path: '/operator/orders', label: 'operator.orders' } as const;

export const orderPage: Page = {
  path: '/operator/orders/{code}',
  role: 'operator',
  title: 'operator.order_title',
  template: 'parts/detail.eta',
  async show(request) {
    const { host, t, format, language } = request;
    const order = await requireOrder(request);
    const { database } = host;
    const { id, accountId } = order;
    const [details, names, mails, receipts = [], company, lines] = await Promise.all([
      readOrderDetails(database, order),
      readAccountNames(database, [accountId, redeemerOf(order) ?? null], t),
      listMails(database, { accountId, orderId: id }, maxMails),
      loadReceiptSteps(database).then((steps) => steps?.listReceipts(database, id)),
      loadReceiptSteps(database).then((steps) => steps?.readCompany(database, id)),
      readOrderLines(database, id),
    ]);
    const reader = { host, t, format, language, names };
    const { text, kind } = describeState(order, t);
    return {
      order: order.code,
      heading: t('operator.order_heading', { order: order.code }),
      status: { kind: kind ?? '', text },
      back: { path: ordersLink.path, label: t(ordersLink.label) },
      facts: [
        ...describeEntryFacts(
          reader,
          order,
          orderView.pick('account', ...orderFactNames, 'code', 'redeemed_by', 'period'),
        ),
        ...(company === undefined
          ? []
          : [{ name: t('operator.fact.company'), value: [company.name, company.npwp].filter(Boolean).join(' · ') }]),
        ...receipts.map(({ kind: receiptKind, number, operatorPath }) => ({
          name: t(`operator.fact.receipt_${receiptKind}`),
          value: number ?? t('operator.fact.receipt_unnumbered'),
          path: operatorPath,
        })),
        ...lines
          .map((line) => describeOrderLine(line, language))
          .map(({ label, text: value, path }) => ({ name: label, value, path })),
      ],
      actions: describeActions(order, request),
      sections: omitEmptySections([
        ...describeEntryTables(reader, describeOrderTables(details)),
        fieldTable(reader, 'mails', 'operator.mails', mails, subjectMailFields, maxMails),
      ]),
    };
  },
};

/** @throws PageError 404 */
export async function requireOrder({ host, params }: PageRequest): Promise<Order> {
  return (
    (await readOrder(host.database, { code: params['code'] ?? '' })) ?? notFound('operator.order_unknown', ordersLink)
  );
}

const createLink = (path: string, label: string, isDanger = false) => ({ path, label, isDanger });

function describeActions(order: Order, { t, format }: PageRequest) {
  const { code, state, flags, refunds, payments } = order;
  const path = `/operator/orders/${code}`;
  const openFlags = flags.filter(({ resolvedAt }) => resolvedAt === undefined);
  const worstFirst = openFlags.toSorted((a, b) => severityOfFlag(a.kind).localeCompare(severityOfFlag(b.kind)));
  const closableRefunds = refunds.filter((refund) => refund.state === 'asked' || refund.state === 'sent');
  // Another refund of the payment would be rejected while one is in progress.
  const refundablePayments = payments.filter(
    (payment) => computeRefundable(order, payment) > 0 && !isRefundInProgress(order, payment),
  );
  return [
    ...worstFirst.map(({ id, kind }) =>
      createLink(`/operator/flags/${id}`, t('operator.resolve_flag', { flag: t(`operator.flag.${kind}`) })),
    ),
    createLink(`${path}/check`, t('operator.act.order.check')),
    ...closableRefunds.map(({ key, amount, currency }) =>
      createLink(
        `/operator/refunds/${key}/close`,
        t('operator.close_refund', { amount: format.money(amount, currency) }),
      ),
    ),
    ...(state === 'created' || state === 'pending'
      ? [createLink(`${path}/cancel`, t('operator.act.order.cancel'), true)]
      : []),
    // With several refundable payments, the label says which one.
    ...refundablePayments.map((payment) => {
      const amount = format.money(computeRefundable(order, payment), payment.currency);
      const values = { amount, outcome: t(`operator.payment_outcome.${payment.outcome}`) };
      const label = t(refundablePayments.length > 1 ? 'operator.refund_one' : 'operator.refund_payment', values);
      return createLink(`${path}/refund/${payment.id}`, label, true);
    }),
  ];
}
