import type { MailedReceipt } from '#core/business/payments/receipts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { createSignedUrl } from './link.ts';
import { numberReceipts } from './numbers.ts';
import { findPaymentReceiptId, formatNumber, readPaymentReceipt } from './read.ts';
import { sellerSection } from './section.ts';

/* Functions that core calls within its transactions, and that pages and order mails use. */

export { listReceiptLines, listReceipts, readCompany } from './read.ts';
export { storePayment, storeRefund } from './store.ts';

export function readRetentionYears({ section }: Pick<Host, 'section'>): number | undefined {
  const { name, keep_years: years } = section(sellerSection);
  return name === undefined ? undefined : years;
}

/** Assigns outstanding numbers first, so that the mail need not wait for the job. */
export async function readMailedReceipt(
  host: Host,
  paymentId: string,
  refundKey?: string,
): Promise<MailedReceipt | undefined> {
  const { database, log } = host;
  const id = await findPaymentReceiptId(database, paymentId);
  if (id === undefined) return undefined;
  await numberReceipts(database).catch((error: unknown) => {
    log.warn(`could not number receipts for a mail: ${(error as Error).message}`);
  });
  const paymentReceipt = await readPaymentReceipt(database, id);
  if (paymentReceipt === undefined) return undefined;
  const { receipt, refunds } = paymentReceipt;
  const refund = refunds.find((stored) => stored.refundKey === refundKey);
  return {
    seller: receipt.content.seller.name,
    number: formatNumber(receipt),
    refundNumber: refund && formatNumber(refund),
    isWaiting: !receipt.isTest && receipt.number === undefined,
    url: await createSignedUrl(host, id),
  };
}
