import type { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { computeDecisionDeadline } from '#core/business/payments/flags.ts';
import type { FlagKind, Payment } from '#core/business/payments/order-types.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { formatContact } from '#core/gateway/host/contact.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { type PageRequest, type Localizer, accountOf } from '#core/web/pages/page.ts';

/** @throws PageError 404 if the order does not exist or belongs to another account */
export async function readOwnOrder(request: PageRequest): Promise<Order> {
  const { host, params } = request;
  const order = await readOrder(host.database, { code: params['code'] ?? '' }, accountOf(request).id);
  if (order === undefined) throw new PageError(404, 'payments.order_unknown');
  return order;
}

export function getOrderPath({ code, state }: Pick<Order, 'code' | 'state'>): string {
  return state === 'paid' || state === 'refunded' ? `/orders/${code}/done` : `/orders/${code}`;
}

export function formatDays(count: number, { t }: Pick<PageRequest, 't'>): string {
  return t('payments.buy.summary', { count });
}

export function describeRetry(
  { retryAt: next }: CheckoutError,
  { format }: Pick<PageRequest, 'format'>,
): { readonly time?: string } {
  return next === undefined ? {} : { time: format.time(next).text };
}

/** Returns the payments other than the one that activated the order; none before that. */
export function findExtraPayments({ payments }: Pick<Order, 'payments'>): readonly Payment[] {
  if (!payments.some(({ outcome }) => outcome === 'activated')) return [];
  return payments.filter(({ outcome }) => outcome !== 'activated' && outcome !== 'returned');
}

/** Returns true if "the second payment" can mean only one. */
export function isPaidTwice(extra: readonly Payment[]): boolean {
  return extra.length === 1 && extra[0]?.outcome === 'second';
}

export function describeRefunds(order: Order, { t, format }: Localizer): string {
  const extra = findExtraPayments(order);
  return order.refunds
    .filter(({ state }) => state !== 'failed')
    .map(({ paymentId, amount: refunded, currency, createdAt, finishedAt }) => {
      const amount = format.money(refunded, currency);
      if (finishedAt === undefined) return t('payments.refund.sent', { amount, time: format.time(createdAt).text });
      const time = format.time(finishedAt).text;
      const extraPayment = extra.find(({ id }) => id === paymentId);
      if (extraPayment === undefined) return t('payments.refund.done', { amount, time });
      const paid = format.money(extraPayment.amount, extraPayment.currency);
      return t(isPaidTwice(extra) ? 'payments.refund.done_second' : 'payments.refund.done_other', {
        amount,
        time,
        paid,
      });
    })
    .join(' ');
}

export function describeDaysLeft({ period, readAt }: Order, { t, format }: Localizer): string {
  if (period === undefined || period.endsAt <= readAt) return t('payments.done.refunded_more');
  return t('payments.done.refunded_kept', { time: format.time(period.endsAt).text });
}

export function describeRefundsTitle({ refunds }: Order, { t }: Pick<PageRequest, 't'>): string {
  const isPending = refunds.some(({ state }) => state === 'asked' || state === 'sent');
  return t(isPending ? 'payments.refund.title' : 'payments.refund.title_done');
}

export function describeResolution(
  { code, flags }: Order,
  isAbout: (kind: FlagKind) => boolean,
  { t, host, format }: Pick<PageRequest, 't' | 'host' | 'format'>,
): readonly [decided: string, ask: string] {
  const flag = flags.findLast(({ kind, resolvedAt }) => isAbout(kind) && resolvedAt !== undefined);
  const contact = formatContact(host.service);
  return [
    flag?.resolvedAt === undefined
      ? ''
      : t(`payments.pay.decided_${flag.outcome ?? 'more'}`, { time: format.time(flag.resolvedAt).text }),
    contact === undefined
      ? t('payments.pay.decided_no_contact', { code })
      : t('payments.pay.decided_ask', { code, contact }),
  ];
}

/** @param keys texts before the deadline, after it, and after it if the service has no contact */
export function describePendingDecision(
  { code, flags, readAt }: Order,
  isAbout: (kind: FlagKind) => boolean,
  [key, lateKey, noContactKey]: readonly [string, string, string],
  { t, host, format }: Pick<PageRequest, 't' | 'host' | 'format'>,
): string {
  const flag = flags.find(({ kind, resolvedAt }) => isAbout(kind) && resolvedAt === undefined);
  const deadline = computeDecisionDeadline(host, flag?.createdAt ?? readAt);
  if (deadline > readAt) return t(key, { time: format.time(deadline).text });
  const contact = formatContact(host.service);
  return contact === undefined ? t(noContactKey, { code }) : t(lateKey, { code, contact });
}
