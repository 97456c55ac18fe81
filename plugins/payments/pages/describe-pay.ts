import { readAccounts } from '#core/accounts/account-record.ts';
import { paymentProviders } from '#core/payments/connections.ts';
import type { Order } from '#core/payments/order.ts';
import { QrisError, readQris } from '#core/payments/qris.ts';
import { paymentsSection } from '#core/payments/section.ts';
import type { PageRequest } from '#core/pages/page.ts';
import { qrPath } from '../qr-image/qr-path.ts';
import { daysOf, isOpenView, type OrderView, withContact } from './order-view.ts';

/** Everything that the pay page shows, ready to be printed. */
export async function describePay(order: Order, view: OrderView, request: PageRequest) {
  const { t, format, host } = request;
  const { code, attempt } = order;
  const total = format.money(attempt?.amount ?? order.price, order.currency);
  const isPayable = view === 'waiting';
  const qr = isPayable ? attempt?.qr : undefined;
  return {
    code,
    view,
    total,
    isPayable,
    isPolled: isOpenView(view),
    qr: qr === undefined ? undefined : qrPath(qr),
    qrLabel: t('payments.pay.qr', { price: total, code }),
    fileName: `${host.service.slug}-${code}.png`,
    paymentUrl: (isPayable && attempt?.paymentUrl) || '',
    isSandbox: paymentProviders(host).get(order.provider)?.isSandbox === true,
    sandbox: order.provider === 'sandbox' && attempt !== undefined ? `/sandbox/${attempt.reference}` : '',
    days: daysOf(order.days, request),
    starts: await startOf(order, request),
    ways: qr === undefined ? [] : waysToPay(merchantOf(qr, request), total, request),
    ...describeTime(order, request),
    checked: isOpenView(view) ? describeCheck(order, request) : '',
    wrong: view === 'wrong' ? describeWrong(order, total, request) : undefined,
  };
}

/** When the days begin, if it is paid now. */
async function startOf({ accountId }: Order, { host, t, format }: PageRequest): Promise<string> {
  const [account] = await readAccounts(host.database, 'id', [accountId]);
  const end = account?.periods
    .map(({ endsAt }) => endsAt)
    .toSorted((a, b) => a.getTime() - b.getTime())
    .at(-1);
  if (account === undefined || end === undefined || end.getTime() <= account.readAt)
    return t('payments.buy.starts_now');
  return t('payments.buy.starts_later', { time: format.time(end).text });
}

/** Until when it can be paid. Seconds are for the script, which counts by itself from there. */
function describeTime({ expiresAt, readAt }: Order, { format, host }: PageRequest) {
  const left = Math.max(0, Math.ceil((expiresAt.getTime() - readAt.getTime()) / 1000));
  const length = Math.max(left, host.section(paymentsSection).order_minutes * 60);
  return { before: format.time(expiresAt), left, length };
}

/** The steps on the phone that shows this page, and with a phone beside it. */
function waysToPay(merchant: string, price: string, { t }: PageRequest) {
  const steps = (way: string) => [1, 2, 3, 4].map((step) => t(`payments.pay.${way}.${step}`, { merchant, price }));
  const phone = { title: t('payments.pay.this_phone'), steps: steps('this_phone') };
  const scan = { title: t('payments.pay.scan'), steps: steps('scan') };
  return [
    { device: 'touch', ...phone, other: scan },
    { device: 'pointer', ...scan, other: phone },
  ];
}

/** The receiver as wallets show it. */
export function merchantOf(qr: string, { host }: Pick<PageRequest, 'host'>): string {
  try {
    return readQris(qr).merchantName;
  } catch (error) {
    if (!(error instanceof QrisError)) throw error;
    return host.service.name;
  }
}

/** That the provider was just asked, at the reader's wish. */
function describeCheck({ attempt, readAt }: Order, { t, format, query }: PageRequest): string {
  if (!('checked' in query)) return '';
  return t('payments.pay.checked_more', { time: format.time(attempt?.checkedAt ?? readAt).text });
}

/** What came, and whom to write to. */
function describeWrong({ code, payments }: Order, price: string, request: PageRequest) {
  const payment = payments.findLast(({ outcome }) => outcome.startsWith('wrong_'));
  const paid = payment === undefined ? '' : request.format.money(payment.amount, payment.currency);
  return {
    title: request.t('payments.pay.wrong', { paid, price }),
    text: withContact(request, ['payments.pay.wrong_more', 'payments.pay.wrong_no_contact'], { code }),
  };
}
