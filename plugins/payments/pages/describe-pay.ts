import { readAccounts } from '#core/business/accounts/account-record.ts';
import { getPaymentProviders, findSimulationCommand } from '#core/business/payments/connections.ts';
import { isOpenView, isWrongPayment, type OrderView } from '#core/business/payments/order-view.ts';
import { type Order, type Payment, computeRefundable } from '#core/business/payments/order.ts';
import { findNmid, QrisError, readQris } from '#core/business/payments/qris.ts';
import { paymentsSection } from '#core/business/payments/section.ts';
import { buildContactLink } from '#core/gateway/host/contact.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { drawQrPath } from '../qr-image/qr-path.ts';
import { loadQrisLogo } from '../qr-image/qris-logo.ts';
import { formatPlan } from './gift.ts';
import { describeResolution, describePendingDecision, describeRefunds } from './order-view.ts';

interface Note {
  readonly kind: 'info' | 'waiting' | 'warn' | 'bad';
  readonly title: string;
  readonly text: string;
}

export async function describePay(order: Order, view: OrderView, request: PageRequest) {
  const { t, format, host } = request;
  const { code, attempt } = order;
  const total = format.money(attempt?.amount ?? order.price, order.currency);
  const isPayable = view === 'waiting';
  const simulation = isPayable ? findSimulationCommand(host, order) : undefined;
  const qr = isPayable && simulation === undefined ? attempt?.qr : undefined;
  const receiver = qr === undefined ? undefined : readReceiver(qr, request);
  return {
    code,
    view,
    ...describeHeading(order, view, total, request),
    total,
    isPayable,
    canCheck: isOpenView(view),
    qr: qr === undefined ? undefined : drawQr(qr),
    mark: qr === undefined ? undefined : (await loadQrisLogo(host))?.dataUrl,
    receiver,
    simulation: simulation === undefined ? undefined : describeSimulation(simulation, request),
    qrLabel: t('payments.pay.qr', { price: total, code }),
    fileName: `${host.service.slug}-${code}.png`,
    paymentUrl: (isPayable && attempt?.paymentUrl) || '',
    isSandbox: getPaymentProviders(host).get(order.provider)?.isSandbox === true,
    sandbox: order.provider === 'sandbox' && attempt !== undefined ? `/sandbox/${attempt.reference}` : '',
    days: formatPlan(order, request),
    again: `/buy?days=${order.days}${order.isGift ? '&gift=1' : ''}`,
    starts: order.isGift ? t('payments.buy.starts_gift') : await describeStart(order, request),
    ways: receiver === undefined ? [] : describeWaysToPay(receiver.name, total, request),
    ...describeDeadline(order, request),
    checked: isOpenView(view) ? describeCheck(order, request) : undefined,
    state: describeState(order, view, request),
    contactLink: buildContactLink(host.service, t('payments.order_number', { code })),
  };
}

export function describeState(order: Order, view: OrderView, request: PageRequest): Note {
  if (view === 'decided') return describeDecidedPayment(order, request);
  const { t } = request;
  const defaultNote = {
    kind: noteKinds[view] ?? 'waiting',
    title: t(`payments.pay.${view}`),
    text: t(`payments.pay.${view}_more`),
  };
  const note = view === 'wrong' ? describeWrongPayment(order, request) : defaultNote;
  const refunds = describeRefunds(order, request);
  if (refunds === '') return note;
  // If the money is refunded or being refunded, the buyer need not read that a search or decision is pending.
  const isDecided = endedViews.has(view) || order.payments.every((payment) => computeRefundable(order, payment) === 0);
  return { ...note, text: isDecided ? refunds : `${note.text} ${refunds}` };
}

const endedViews = new Set<OrderView>(['expired', 'failed', 'cancelled']);

function describeHeading(order: Order, view: OrderView, total: string, { t, format }: PageRequest) {
  const payment = view === 'wrong' || view === 'decided' ? findWrongPayment(order) : undefined;
  if (payment === undefined) return { heading: t('payments.pay.heading'), sum: total };
  const paid = format.money(payment.amount, payment.currency);
  return { heading: t(`payments.pay.${view}_heading`, { paid }), sum: '' };
}

const qrSize = { minModule: 4, side: 328 }; // px

function drawQr(payload: string) {
  const qr = drawQrPath(payload);
  // A module gets a whole number of px, so that its edges are sharp.
  return { ...qr, size: qr.side * Math.max(qrSize.minModule, Math.floor(qrSize.side / qr.side)) };
}

async function describeStart({ accountId }: Order, { host, t, format }: PageRequest): Promise<string> {
  const [account] = await readAccounts(host.database, 'id', [accountId]);
  const end = account?.periods
    .map(({ endsAt }) => endsAt)
    .toSorted((a, b) => a.getTime() - b.getTime())
    .at(-1);
  if (account === undefined || end === undefined || end.getTime() <= account.readAt)
    return t('payments.buy.starts_now');
  return t('payments.buy.starts_later', { time: format.dayTime(end, account.readAt).text });
}

function describeDeadline({ expiresAt, readAt }: Order, { format, host }: PageRequest) {
  const remainingMs = Math.max(0, expiresAt.getTime() - readAt.getTime());
  const length = Math.max(Math.ceil(remainingMs / 1000), host.section(paymentsSection).order_minutes * 60);
  // The page's script reads `left` in ms and `length` in seconds.
  return { before: format.time(expiresAt), left: remainingMs, length };
}

function describeWaysToPay(merchant: string, price: string, { t }: PageRequest) {
  const steps = (way: string) =>
    [1, 2, 3, 4].map((step) => splitBold(t(`payments.pay.${way}.${step}`, { merchant, price })));
  const phone = { title: t('payments.pay.this_phone'), steps: steps('this_phone') };
  const scan = { title: t('payments.pay.scan'), steps: steps('scan') };
  return [
    { device: 'touch', ...phone, other: scan },
    { device: 'pointer', ...scan, other: phone },
  ];
}

function splitBold(text: string) {
  // Parts between `**` are bold.
  return text.split('**').map((part, index) => ({ text: part, isBold: index % 2 === 1 }));
}

/** The receiver's name as wallets show it, and the merchant's national id, or '' if the code has none. */
export function readReceiver(qr: string, { host }: Pick<PageRequest, 'host'>): { name: string; nmid: string } {
  try {
    const qris = readQris(qr);
    return { name: qris.merchantName, nmid: findNmid(qris) ?? '' };
  } catch (error) {
    if (!(error instanceof QrisError)) throw error;
    return { name: host.service.name, nmid: '' };
  }
}

function describeSimulation(command: string, { t }: PageRequest) {
  return { id: 'simulation', label: t('payments.pay.simulation'), pieces: [{ kind: '', text: command }] };
}

function describeCheck({ attempt, readAt }: Order, { t, format, query }: PageRequest): Note | undefined {
  if (!('checked' in query)) return undefined;
  if (attempt?.error !== undefined)
    return { kind: 'warn', title: t('payments.pay.away'), text: t('payments.pay.away_more') };
  const time = format.time(attempt?.checkedAt ?? readAt).text;
  return { kind: 'info', title: t('payments.pay.checked'), text: t('payments.pay.checked_more', { time }) };
}

const noteKinds: Partial<Readonly<Record<OrderView, Note['kind']>>> = {
  expired: 'warn',
  cancelled: 'warn',
  failed: 'bad',
};

const findWrongPayment = ({ payments }: Order): Payment | undefined =>
  payments.findLast(({ outcome }) => isWrongPayment(outcome));

function describeWrongTitle(order: Order, { t, format }: PageRequest): string {
  const payment = findWrongPayment(order);
  if (payment === undefined) return t('payments.state.wrong');
  const price = format.money(order.attempt?.amount ?? order.price, order.currency);
  return t('payments.pay.wrong', { paid: format.money(payment.amount, payment.currency), price });
}

function describeWrongPayment(order: Order, request: PageRequest): Note {
  const texts = ['payments.pay.wrong_more', 'payments.pay.wrong_late', 'payments.pay.wrong_no_contact'] as const;
  return {
    kind: 'bad',
    title: describeWrongTitle(order, request),
    text: describePendingDecision(order, isWrongPayment, texts, request),
  };
}

function describeDecidedPayment(order: Order, request: PageRequest): Note {
  const [decided, ask] = describeResolution(order, isWrongPayment, request);
  const parts = [decided, describeRefunds(order, request), ask];
  return {
    kind: 'info',
    title: describeWrongTitle(order, request),
    text: parts.filter((part) => part !== '').join(' '),
  };
}
