import { issuerTitle } from '#core/business/payments/issuer-title.ts';
import { describeOrderLine } from '#core/business/payments/order-lines.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { maskNpwp } from './company.ts';
import { wholePrice } from './content.ts';
import { getBuyer, formatNumber, type PaymentReceipt, type Receipt } from './read.ts';

interface DescribeOptions {
  readonly isAsIssued?: boolean; // leaves out a company that was added later
  readonly isMasked?: boolean; // hides all but the last digits of the buyer's tax number
}

const refreshIntervalSeconds = 5;

/** Uses stored receipts only. Dates are in the shop's time zone and the reader's language. */
export function describeReceipt(
  { receipt, refunds }: PaymentReceipt,
  { t, language }: Pick<PageRequest, 't' | 'language'>,
  { isAsIssued = false, isMasked = false }: DescribeOptions = {},
) {
  const { content, currency, amount, isTest } = receipt;
  const { seller, tax, timeZone, plan, issuer, reference, outcome, lines = [] } = content;
  const format = getFormatter(language, timeZone);
  const buyer = getBuyer(receipt, isAsIssued);
  const money = (value: number) => format.money(value, currency);
  const { from, until, label, days, remark } = plan;
  const number = formatNumber(receipt);
  const refundedAmount = refunds.reduce((sum, refund) => sum + refund.amount, 0);
  const isWaiting = !isTest && [receipt, ...refunds].some(({ number: assigned }) => assigned === undefined);
  return {
    seller: {
      ...seller,
      addressLines: seller.address?.split(/\r?\n/) ?? [],
      registrations: seller.registrations ?? [],
    },
    number: number ?? t(isTest ? 'receipts.number_none' : 'receipts.number_waiting'),
    isTest,
    waiting: isWaiting ? t('receipts.waiting') : '',
    ...(isWaiting && { refreshSeconds: refreshIntervalSeconds }),
    code: receipt.code,
    paidAt: format.time(receipt.madeAt),
    buyer: buyer.name,
    npwp: isMasked ? maskNpwp(buyer.npwp ?? '') : (buyer.npwp ?? ''),
    added: receipt.addedAt === undefined || isAsIssued ? '' : t('receipts.added', describeAddition(receipt, format)),
    item: [t('receipts.days', { count: days }), label?.[language], remark?.[language]]
      .filter((part) => part !== undefined)
      .join(', '),
    bought: outcome === 'activated' ? '' : t('receipts.bought_nothing'),
    active:
      from === undefined || until === undefined
        ? ''
        : t('receipts.from_to', { from: format.time(new Date(from)).text, to: format.time(new Date(until)).text }),
    method: ['QRIS', issuer && issuerTitle(issuer)].filter((part) => part !== undefined).join(', '),
    reference,
    lines: lines.map((line) => describeOrderLine(line, language)),
    withoutTax: tax === undefined ? '' : money(amount - (receipt.tax ?? 0)),
    taxBase:
      tax === undefined || content.taxBase === undefined
        ? undefined
        : { name: t('receipts.tax_base', { part: tax.base }), amount: money(content.taxBase) },
    tax: tax === undefined ? undefined : { name: formatTaxName(tax, language), amount: money(receipt.tax ?? 0) },
    total: money(amount),
    refunds: refunds.map((refund) => ({
      title: t('receipts.refund', {
        number: formatNumber(refund) ?? t('receipts.refund_unnumbered'),
        day: format.day(refund.madeAt).text,
      }),
      amount: `−${money(refund.amount)}`,
      tax: tax === undefined ? '' : t('receipts.refund_tax', { tax: tax.name, amount: money(refund.tax ?? 0) }),
    })),
    net: refunds.length === 0 ? '' : money(amount - refundedAmount),
  };
}

function describeAddition({ buyer, company, addedAt = new Date(0) }: Receipt, format: ReturnType<typeof getFormatter>) {
  return { buyer: company ?? buyer, day: format.day(addedAt).text };
}

/** Example: `PPN 12% × 11/12`. */
function formatTaxName(
  { name, rate, base }: { readonly name: string; readonly rate: number; readonly base: string },
  language: string,
): string {
  const percent = new Intl.NumberFormat(language === 'id' ? 'id-ID' : 'en-GB', { maximumFractionDigits: 4 }).format(
    rate,
  );
  return `${name} ${percent}%${base === wholePrice ? '' : ` × ${base}`}`;
}
