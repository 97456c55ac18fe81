import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { findAccount } from '#core/business/accounts/accounts.ts';
import { listMails } from '#core/business/mail/mails.ts';
import { nameOfAccount } from '#core/web/pages/account-name.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { severityOf } from '#core/business/payments/flags.ts';
import { type Order, readOrder, refundable } from '#core/business/payments/order.ts';
import { describeOrderLine, type OrderLine, readOrderLines } from '#core/business/payments/order-lines.ts';
import { type ReceiptReference, receiptsOf } from '#core/business/payments/receipts.ts';
import { describeCode, redeemerOf, timeOf } from '#core/business/payments/order-codes.ts';
import { isUnderWay } from '#core/business/payments/order-types.ts';
import { describeDone } from '#core/web/actions/action-page.ts';
import { actionTable } from '#core/web/actions/action-table.ts';
import { mailTable } from '../mail-table.ts';
import { withRows } from '#core/web/pages/table.ts';
import { describeFacts, type EntryView, fieldTable, type PageFact } from '#core/web/resources/field.ts';
import { ledger } from '#core/web/resources/ledger.ts';
import {
  attempts,
  flagsOf,
  notifications,
  paymentsOf,
  readOrderDetails,
  refundsOf,
} from '#core/web/resources/order-parts.ts';
import { orderView, stateCell } from '#core/web/resources/orders.ts';

const listedMails = 50;

/** `/operator/orders/{code}`: an order with all that has happened to it. */
export const orderPage: Page = {
  path: '/operator/orders/{code}',
  role: 'operator',
  title: 'operator.order_title',
  template: 'parts/detail.eta',
  styles: ['operator.css', 'tables.css'],
  async show(request) {
    const { host, t, format } = request;
    const order = await requireOrder(request);
    const { database } = host;
    const redeemedBy = redeemerOf(order);
    const [details, account, redeemer, mails, receipts, lines] = await Promise.all([
      readOrderDetails(database, order),
      findAccount(database, order.accountId),
      redeemedBy === undefined ? undefined : findAccount(database, redeemedBy),
      listMails(database, { accountId: order.accountId, orderId: order.id }, listedMails),
      receiptsOf(database).then((steps) => steps?.listReceipts(database, order.id)),
      readOrderLines(database, order.id),
    ]);
    const { text, kind } = stateCell(order, t);
    const table = <Entry>(id: string, entries: readonly Entry[], { page }: Pick<EntryView<Entry>, 'page'>) =>
      fieldTable(request, id, `operator.${id}`, entries, page);
    return {
      order: order.code,
      heading: t('operator.order_heading', { order: order.code }),
      status: { kind: kind ?? '', text },
      done: describeDone(request),
      back: { path: '/operator/orders', label: t('operator.orders') },
      facts: [
        accountFact('operator.fact.buyer', account, t),
        ...factsOf(order, redeemer, request),
        ...receiptFacts(receipts, t),
        ...lines.map((line) => lineFact(line, request)),
      ],
      actions: actionsOf(order, request),
      sections: withRows([
        table('flags', order.flags, flagsOf(order)),
        table('payments', order.payments, paymentsOf(order)),
        table('refunds', order.refunds, refundsOf(order)),
        table('attempts', details.attempts, attempts),
        table('notifications', details.notifications, notifications),
        mailTable(mails, request),
        table('ledger', details.ledger, ledger),
        actionTable(details.actions, request),
      ]),
      asOf: format.time(order.readAt),
    };
  },
};

/** @throws PageError 404 */
export async function requireOrder({ host, params }: PageRequest): Promise<Order> {
  const order = await readOrder(host.database, { code: params['code'] ?? '' });
  if (order !== undefined) return order;
  throw new PageError(404, 'operator.order_unknown', {
    action: { path: '/operator/orders', label: 'operator.orders' },
  });
}

function accountFact(name: string, account: AccountRecord, t: PageRequest['t']) {
  return { name: t(name), value: nameOfAccount(account, t), path: `/operator/accounts/${account.id}` };
}

/** What plugins said about the order when it was placed. */
function lineFact(line: OrderLine, { language }: PageRequest): PageFact {
  const { label, text, path } = describeOrderLine(line, language);
  return { name: label, value: text, ...(path !== '' && { path }) };
}

/** Links to the stored receipts of an order. */
function receiptFacts(receipts: readonly ReceiptReference[] = [], t: PageRequest['t']): PageFact[] {
  return receipts.map(({ kind, number, operatorPath }) => ({
    name: t(`operator.fact.receipt_${kind}`),
    value: number ?? t('operator.fact.receipt_unnumbered'),
    path: operatorPath,
  }));
}

/** @param redeemer the account that has redeemed the code of the order */
function factsOf(order: Order, redeemer: AccountRecord | undefined, request: PageRequest): PageFact[] {
  const { t, format } = request;
  const [code, period] = [describeCode(order, request), timeOf(order)];
  const time = (value: Date) => format.time(value).text;
  return [
    ...describeFacts(request, order, orderView.pick('plan', 'price', 'provider', 'created', 'pay_until', 'paid')),
    ...(code === undefined ? [] : [{ name: t('operator.fact.code'), value: code }]),
    ...(redeemer === undefined ? [] : [accountFact('operator.fact.redeemed_by', redeemer, t)]),
    ...(period === undefined
      ? []
      : [{ name: t('operator.fact.period'), value: `${time(period.startsAt)} – ${time(period.endsAt)}` }]),
  ];
}

/** Actions on an order, the most pressing first. */
function actionsOf(order: Order, { t, format }: PageRequest) {
  const { code, state, flags, refunds } = order;
  const open = flags.filter(({ resolvedAt }) => resolvedAt === undefined);
  const worstFirst = open.toSorted((one, other) => severityOf(one.kind).localeCompare(severityOf(other.kind)));
  return [
    ...worstFirst.map(({ id, kind }) => ({
      path: `/operator/flags/${id}`,
      label: t('operator.resolve_flag', { flag: t(`operator.flag.${kind}`) }),
      isDanger: false,
    })),
    { path: `/operator/orders/${code}/check`, label: t('operator.act.order.check'), isDanger: false },
    ...refunds
      .filter((refund) => refund.state === 'asked' || refund.state === 'sent')
      .map(({ key, amount, currency }) => ({
        path: `/operator/refunds/${key}/close`,
        label: t('operator.close_refund', { amount: format.money(amount, currency) }),
        isDanger: false,
      })),
    ...(state === 'created' || state === 'pending'
      ? [{ path: `/operator/orders/${code}/cancel`, label: t('operator.act.order.cancel'), isDanger: true }]
      : []),
    ...refundLinks(order, { t, format }),
  ];
}

/** Of several payments, each says which one it is. While a refund of one is under way, another one would be refused. */
function refundLinks(order: Order, { t, format }: Pick<PageRequest, 't' | 'format'>) {
  const open = order.payments
    .map((payment) => ({ payment, left: refundable(order, payment) }))
    .filter(({ payment, left }) => left > 0 && !isUnderWay(order, payment));
  return open.map(({ payment: { id, currency, outcome }, left }) => {
    const words = { amount: format.money(left, currency), outcome: t(`operator.payment_outcome.${outcome}`) };
    return {
      path: `/operator/orders/${order.code}/refund/${id}`,
      label: t(open.length > 1 ? 'operator.refund_one' : 'operator.refund_payment', words),
      isDanger: true,
    };
  });
}
