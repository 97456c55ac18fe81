import type { MailContext, MailDraft, MailWriter } from '#core/gateway/mails/mail-kind.ts';
import { oneLine } from '#core/platform/one-line.ts';
import { recordedLabelIn } from '../accounts/plans.ts';
import { readGiftCode } from './gifts.ts';
import { issuerTitle } from './issuer-title.ts';
import { orderReason } from './order-reason.ts';
import { type Order, readOrder } from './order.ts';

export const receipt: MailWriter<'order.paid'> = {
  async write(context) {
    const { host, payload, t, format, language, pages } = context;
    const order = await readOrder(host.database, { id: payload.orderId });
    const payment = order?.payments.find(({ outcome }) => outcome === 'activated');
    if (order === undefined || payment === undefined) return orderReason('mail.reason.no_payment');
    const labels = order.label === undefined ? [] : [recordedLabelIn(language, order.label, host)];
    const facts: [string, string][] = [
      [t('mail.order'), order.code],
      [t('mail.receipt.plan'), [t('mail.receipt.days', { count: order.days }), ...labels].join(', ')],
      [t('mail.receipt.amount'), format.money(payment.amount, payment.currency)],
      [t('mail.receipt.paid_at'), format.time(payment.paidAt).text],
    ];
    if (payment.issuer !== undefined) facts.push([t('mail.receipt.paid_by'), issuerTitle(oneLine(payment.issuer))]);
    if (order.period !== undefined) {
      facts.push([t('mail.receipt.starts_at'), format.time(order.period.startsAt).text]);
      facts.push([t('mail.receipt.ends_at'), format.time(order.period.endsAt).text]);
    }
    if (order.isGift) return giftReceipt(order, facts, context);
    return {
      subject: t('mail.receipt.subject', { code: order.code }),
      paragraphs: [
        t('mail.receipt.text'),
        ...(order.isLate ? [t('mail.receipt.late')] : []),
        t('mail.receipt.connect', { url: pages.connect }),
      ],
      links: [{ text: pages.connect, url: pages.connect }],
      facts,
      action: { label: t('mail.receipt.link'), url: `${host.service.baseUrl}/orders/${order.code}/receipt` },
    };
  },
};

async function giftReceipt(
  order: Order,
  facts: readonly (readonly [string, string])[],
  { host, t, format }: MailContext,
): Promise<MailDraft> {
  const code = await readGiftCode(host.database, order);
  const redeem = `${host.service.baseUrl}${code?.path}`;
  const gift: [string, string][] =
    code === undefined || order.gift === undefined
      ? []
      : [
          [t('mail.gift.code'), code.written],
          [t('mail.gift.link'), redeem],
          [t('mail.gift.until'), format.time(order.gift.expiresAt).text],
        ];
  return {
    subject: t('mail.receipt.subject', { code: order.code }),
    paragraphs: [
      t(code === undefined ? 'mail.gift.text_without' : 'mail.gift.text'),
      ...(order.isLate ? [t('mail.receipt.late')] : []),
    ],
    facts: [...gift, ...facts],
    links: [{ text: redeem, url: redeem }],
    action: { label: t('mail.gift.open'), url: `${host.service.baseUrl}/orders/${order.code}/done` },
  };
}

export const refunded: MailWriter<'payment.refunded'> = {
  async write({ host, payload, createdAt, t, format }) {
    const order = await readOrder(host.database, { id: payload.orderId });
    const refund = order?.refunds.find(({ key }) => key === payload.refund);
    if (order === undefined || refund === undefined) return orderReason('mail.reason.no_refund');
    const payment = order.payments.find(({ id }) => id === refund.paymentId);
    const days = payment?.outcome === 'activated' ? refund.days : 'none';
    const amount = format.money(refund.amount, refund.currency);
    return {
      subject: t('mail.refund.subject', { amount }),
      paragraphs: [
        t(refund.isManual ? 'mail.refund.text_manual' : 'mail.refund.text', { amount }),
        ...(days === 'none' ? [] : [t(order.isGift ? 'mail.refund.gift' : `mail.refund.days.${days}`)]),
      ],
      facts: [
        [t('mail.order'), order.code],
        [t('mail.refund.amount'), amount],
        [t('mail.refund.time'), format.time(refund.finishedAt ?? createdAt).text],
      ],
      action: { label: t('mail.refund.open'), url: `${host.service.baseUrl}/orders/${order.code}` },
    };
  },
};
