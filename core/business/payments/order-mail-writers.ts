import type { MailContext, MailDraft, MailWriter } from '#core/gateway/mails/mail-kind.ts';
import { oneLine } from '#core/platform/one-line.ts';
import { translateRecordedLabel } from '../accounts/plans.ts';
import { readGiftCode } from './gifts.ts';
import { issuerTitle } from './issuer-title.ts';
import { orderReason } from './order-reason.ts';
import { type Order, readOrder } from './order.ts';
import { describeOrderLine, readOrderLines } from './order-lines.ts';
import { type MailedReceipt, receiptsOf } from './receipts.ts';

export const receipt: MailWriter<'order.paid'> = {
  async write(context) {
    const { host, payload, t, format, language, pages } = context;
    const order = await readOrder(host.database, { id: payload.orderId });
    const payment = order?.payments.find(({ outcome }) => outcome === 'activated');
    if (order === undefined || payment === undefined) return orderReason('mail.reason.no_payment');
    const labels = order.label === undefined ? [] : [translateRecordedLabel(language, order.label, host)];
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
    const stored = await (await receiptsOf(host.database))?.readMailed(host, payment.id);
    facts.push(...receiptFacts(stored, context));
    const lines = (await readOrderLines(host.database, order.id)).map((line) =>
      describeOrderLine(line, language, host.service.baseUrl),
    );
    facts.push(...lines.map(lineFact));
    const links = lines.flatMap(({ path }) => (path === '' ? [] : [{ text: path, url: path }]));
    if (order.isGift) return giftReceipt(order, { facts, links }, context, stored);
    return {
      subject: t('mail.receipt.subject', { code: order.code }),
      paragraphs: [
        t('mail.receipt.text'),
        ...(order.isLate ? [t('mail.receipt.late')] : []),
        t('mail.receipt.key', { url: pages.key }),
        t('mail.receipt.connect', { url: pages.connect }),
        ...waiting(stored, context),
      ],
      links: [...[pages.key, pages.connect].map((url) => ({ text: url, url })), ...links],
      facts,
      action: {
        label: t('mail.receipt.link'),
        url: stored?.url ?? `${host.service.baseUrl}/orders/${order.code}/receipt`,
      },
    };
  },
};

/** `Terms accepted: Version 2 · https://…`. */
function lineFact({ label, text, path }: ReturnType<typeof describeOrderLine>): [string, string] {
  return [
    oneLine(label),
    [oneLine(text), path].filter((part, index) => part !== '' && (index === 0 || part !== text)).join(' · '),
  ];
}

/** Seller and number of a stored receipt; a refund's own number comes first. */
function receiptFacts(stored: MailedReceipt | undefined, { t }: Pick<MailContext, 't'>): [string, string][] {
  if (stored === undefined) return [];
  return [
    [t('mail.receipt.seller'), oneLine(stored.seller)],
    ...(stored.refundNumber === undefined ? [] : [[t('mail.refund.number'), stored.refundNumber] as [string, string]]),
    ...(stored.number === undefined ? [] : [[t('mail.receipt.number'), stored.number] as [string, string]]),
  ];
}

function waiting(stored: MailedReceipt | undefined, { t }: Pick<MailContext, 't'>): string[] {
  return stored?.isWaiting === true ? [t('mail.receipt.number_later')] : [];
}

async function giftReceipt(
  order: Order,
  { facts, links }: Required<Pick<MailDraft, 'facts' | 'links'>>,
  { host, t, format }: MailContext,
  stored: MailedReceipt | undefined,
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
      ...waiting(stored, { t }),
      ...(stored === undefined ? [] : [t('mail.receipt.at', { url: stored.url })]),
    ],
    facts: [...gift, ...facts],
    links: [
      { text: redeem, url: redeem },
      ...(stored === undefined ? [] : [{ text: stored.url, url: stored.url }]),
      ...links,
    ],
    action: { label: t('mail.gift.open'), url: `${host.service.baseUrl}/orders/${order.code}/done` },
  };
}

export const refunded: MailWriter<'payment.refunded'> = {
  async write({ host, payload, createdAt, t, format }) {
    const receipts = await receiptsOf(host.database);
    const order = await readOrder(host.database, { id: payload.orderId });
    const refund = order?.refunds.find(({ key }) => key === payload.refund);
    if (order === undefined || refund === undefined) return orderReason('mail.reason.no_refund');
    const payment = order.payments.find(({ id }) => id === refund.paymentId);
    const days = payment?.outcome === 'activated' ? refund.days : 'none';
    const amount = format.money(refund.amount, refund.currency);
    const stored = payment && (await receipts?.readMailed(host, payment.id, refund.key));
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
        ...receiptFacts(stored, { t }),
      ],
      action:
        stored === undefined
          ? { label: t('mail.refund.open'), url: `${host.service.baseUrl}/orders/${order.code}` }
          : { label: t('mail.receipt.link'), url: stored.url },
    };
  },
};
