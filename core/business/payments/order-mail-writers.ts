import type { MailContext, MailDraft, MailWriter } from '#core/gateway/mails/mail-kind.ts';
import { toOneLine } from '#core/platform/one-line.ts';
import { translateRecordedLabel } from '../accounts/plans.ts';
import { readGiftCode } from './gifts.ts';
import { issuerTitle } from './issuer-title.ts';
import { describeOrderLine, readOrderLines } from './order-lines.ts';
import { orderReason } from './order-reason.ts';
import { type Order, readOrder } from './order.ts';
import { type MailedReceipt, loadReceiptSteps } from './receipts.ts';

export const receiptMail: MailWriter<'order.paid'> = {
  async write(context) {
    const { host, payload, t, language, pages } = context;
    const order = await readOrder(host.database, { id: payload.orderId });
    const payment = order?.payments.find(({ outcome }) => outcome === 'activated');
    if (order === undefined || payment === undefined) return orderReason('mail.reason.no_payment');
    const storedReceipt = await (await loadReceiptSteps(host.database))?.readMailedReceipt(host, payment.id);
    const lines = (await readOrderLines(host.database, order.id)).map((line) =>
      describeOrderLine(line, language, host.service.baseUrl),
    );
    const facts = [
      ...describePaidOrder(order, payment, context),
      ...describeReceipt(storedReceipt, context),
      ...lines.map(toFact),
    ];
    const links = lines.flatMap(({ path }) => (path === '' ? [] : [{ text: path, url: path }]));
    if (order.isGift) return draftGiftReceipt(order, { facts, links }, context, storedReceipt);
    return {
      subject: t('mail.receipt.subject', { code: order.code }),
      paragraphs: [
        t('mail.receipt.text'),
        ...(order.isLate ? [t('mail.receipt.late')] : []),
        t('mail.receipt.key', { url: pages.key }),
        t('mail.receipt.connect', { url: pages.connect }),
        ...describeMissingNumber(storedReceipt, context),
      ],
      links: [...[pages.key, pages.connect].map((url) => ({ text: url, url })), ...links],
      facts,
      action: {
        label: t('mail.receipt.link'),
        url: storedReceipt?.url ?? `${host.service.baseUrl}/orders/${order.code}/receipt`,
      },
    };
  },
};

function describePaidOrder(
  { code, days, label, period }: Order,
  { amount, currency, paidAt, issuer }: Order['payments'][number],
  { host, t, format, language }: MailContext,
): [string, string][] {
  const labels = label === undefined ? [] : [translateRecordedLabel(language, label, host)];
  const facts: [string, string][] = [
    [t('mail.order'), code],
    [t('mail.receipt.plan'), [t('mail.receipt.days', { count: days }), ...labels].join(', ')],
    [t('mail.receipt.amount'), format.money(amount, currency)],
    [t('mail.receipt.paid_at'), format.time(paidAt).text],
  ];
  if (issuer !== undefined) facts.push([t('mail.receipt.paid_by'), issuerTitle(toOneLine(issuer))]);
  if (period !== undefined) {
    facts.push([t('mail.receipt.starts_at'), format.time(period.startsAt).text]);
    facts.push([t('mail.receipt.ends_at'), format.time(period.endsAt).text]);
  }
  return facts;
}

function toFact({ label, text, path }: ReturnType<typeof describeOrderLine>): [string, string] {
  return [
    toOneLine(label),
    [toOneLine(text), path].filter((part, index) => part !== '' && (index === 0 || part !== text)).join(' · '),
  ];
}

function describeReceipt(receipt: MailedReceipt | undefined, { t }: Pick<MailContext, 't'>): [string, string][] {
  if (receipt === undefined) return [];
  const facts: [string, string][] = [[t('mail.receipt.seller'), toOneLine(receipt.seller)]];
  if (receipt.refundNumber !== undefined) facts.push([t('mail.refund.number'), receipt.refundNumber]);
  if (receipt.number !== undefined) facts.push([t('mail.receipt.number'), receipt.number]);
  return facts;
}

function describeMissingNumber(receipt: MailedReceipt | undefined, { t }: Pick<MailContext, 't'>): string[] {
  return receipt?.isWaiting === true ? [t('mail.receipt.number_later')] : [];
}

async function draftGiftReceipt(
  order: Order,
  { facts, links }: Required<Pick<MailDraft, 'facts' | 'links'>>,
  { host, t, format }: MailContext,
  storedReceipt: MailedReceipt | undefined,
): Promise<MailDraft> {
  const code = await readGiftCode(host.database, order);
  const redeemUrl = code && `${host.service.baseUrl}${code.path}`;
  const giftFacts: [string, string][] =
    code === undefined || redeemUrl === undefined || order.gift === undefined
      ? []
      : [
          [t('mail.gift.code'), code.written],
          [t('mail.gift.link'), redeemUrl],
          [t('mail.gift.until'), format.time(order.gift.expiresAt).text],
        ];
  return {
    subject: t('mail.receipt.subject', { code: order.code }),
    paragraphs: [
      t(code === undefined ? 'mail.gift.text_without' : 'mail.gift.text'),
      ...(order.isLate ? [t('mail.receipt.late')] : []),
      ...describeMissingNumber(storedReceipt, { t }),
      ...(storedReceipt === undefined ? [] : [t('mail.receipt.at', { url: storedReceipt.url })]),
    ],
    facts: [...giftFacts, ...facts],
    links: [
      ...[redeemUrl, storedReceipt?.url].flatMap((url) => (url === undefined ? [] : [{ text: url, url }])),
      ...links,
    ],
    action: { label: t('mail.gift.open'), url: `${host.service.baseUrl}/orders/${order.code}/done` },
  };
}

export const refundMail: MailWriter<'payment.refunded'> = {
  async write({ host, payload, createdAt, t, format }) {
    const receipts = await loadReceiptSteps(host.database);
    const order = await readOrder(host.database, { id: payload.orderId });
    const refund = order?.refunds.find(({ key }) => key === payload.refund);
    if (order === undefined || refund === undefined) return orderReason('mail.reason.no_refund');
    const payment = order.payments.find(({ id }) => id === refund.paymentId);
    const days = payment?.outcome === 'activated' ? refund.days : 'none';
    const amount = format.money(refund.amount, refund.currency);
    const storedReceipt = payment && (await receipts?.readMailedReceipt(host, payment.id, refund.key));
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
        ...describeReceipt(storedReceipt, { t }),
      ],
      action:
        storedReceipt === undefined
          ? { label: t('mail.refund.open'), url: `${host.service.baseUrl}/orders/${order.code}` }
          : { label: t('mail.receipt.link'), url: storedReceipt.url },
    };
  },
};
