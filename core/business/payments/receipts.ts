import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import { Steps } from '#core/platform/database/steps.ts';
import { getPaymentConnection, getPaymentProviders } from './connections.ts';
import { orderTexts } from './order-reason.ts';
import type { Order, OrderLine } from './order-types.ts';

/*
 * Receipts for payments and refunds. A plugin stores a receipt when core records the money, and numbers it later; it never changes
 * otherwise. Without that plugin, or if gateway.yaml names no seller, the order's page is the receipt.
 */

/** A stored receipt for one of an order's payments or refunds. */
export interface ReceiptReference {
  readonly kind: 'payment' | 'refund'; // each kind is numbered separately
  readonly paymentId: string; // the payment itself, or the one that was refunded
  /** As printed; undefined until it is numbered, and always for a payment that moved no money. */
  readonly number: string | undefined;
  /** Page for the buyer. The page for operators is at `operatorPath`. */
  readonly path: string;
  readonly operatorPath: string;
}

/** A payment's receipt, for the email to its buyer. */
export interface MailedReceipt {
  readonly seller: string;
  readonly number: string | undefined; // undefined for a payment that moved no money
  readonly refundNumber: string | undefined; // of the refund that the email is about, if any
  readonly isWaiting: boolean; // the receipt has not been numbered yet
  readonly url: string; // opens the receipt without signing in, for a limited time
}

/** A receipt in the books, numbered or not. Amounts of refunds are positive. */
export interface ReceiptLine {
  readonly seller: string; // name when the receipt was stored
  readonly kind: 'payment' | 'refund';
  readonly at: Date;
  readonly number: string | undefined;
  readonly code: string; // the order's code
  readonly buyer: string;
  readonly npwp: string | undefined;
  readonly gross: number;
  readonly withoutTax: number; // equal to `gross` if the receipt states no tax
  readonly tax: number;
  readonly taxBase: number | undefined; // amount from which the tax is calculated; undefined if the receipt states none
  readonly refundOf: string | undefined; // receipt number of the payment that was refunded
}

/** Facts about a sale that only core knows and its receipt needs. */
export interface Sale {
  readonly isTest: boolean; // the payment moved no money
  readonly remark: OrderLine['text'] | undefined; // note on how it was sold, by language; printed after the plan's name
}

interface ReceiptSteps {
  /**
   * Stores the receipt for a payment that this transaction records. Core has already locked the order and then, if the payment activated
   * days, the buyer's account. Do not take any other lock that concurrent transactions may take, or they could deadlock.
   */
  storePayment(
    host: Pick<Host, 'section' | 'service'>,
    transaction: EntityManager,
    paymentId: string,
    sale: Sale,
  ): Promise<void>;
  /** Stores the receipt for a finished refund, if its payment has one. Core has already locked the order, and perhaps the account. */
  storeRefund(transaction: EntityManager, refundKey: string): Promise<void>;
  /** Lists an order's receipts, starting with the first payment. */
  listReceipts(database: Queries, orderId: string): Promise<ReceiptReference[]>;
  /** Returns the company that the order's receipt is or will be issued to, with its tax number. */
  readCompany(
    database: Queries,
    orderId: string,
  ): Promise<{ readonly name: string; readonly npwp: string | undefined } | undefined>;
  /** Numbers the receipt if it has no number yet; undefined if none was stored. `refundKey` names the refund that the email is about. */
  readMailedReceipt(host: Host, paymentId: string, refundKey?: string): Promise<MailedReceipt | undefined>;
  /** Lists the receipts in a time range and currency, in chronological order; undefined if this shop has never issued any. */
  listReceiptLines(
    database: Queries,
    span: { readonly since: Date; readonly until: Date; readonly currency: string },
  ): Promise<ReceiptLine[] | undefined>;
  /** Returns the number of years for which receipts are kept after their account is deleted; undefined if no receipts are stored. */
  readRetentionYears(host: Pick<Host, 'section'>): number | undefined;
}

/** Provided by the plugin that stores receipts. */
export const receiptSteps = new Steps<ReceiptSteps>();

export async function loadReceiptSteps(database: Transactions): Promise<ReceiptSteps | undefined> {
  return receiptSteps.findLoader(database.fork())?.();
}

const giftRemark = { en: orderTexts.en['receipts.gift'], id: orderTexts.id['receipts.gift'] };

export async function storePaymentReceipt(
  host: Host,
  transaction: EntityManager,
  provider: string,
  paymentId: string,
  { isGift }: Pick<Order, 'isGift'>,
): Promise<void> {
  const steps = await receiptSteps.findLoader(transaction)?.();
  const sale = { isTest: movesNoMoney(host, provider), remark: isGift ? giftRemark : undefined };
  await steps?.storePayment(host, transaction, paymentId, sale);
}

export async function storeRefundReceipt(transaction: EntityManager, refundKey: string): Promise<void> {
  const steps = await receiptSteps.findLoader(transaction)?.();
  await steps?.storeRefund(transaction, refundKey);
}

function movesNoMoney(host: Host, name: string): boolean {
  if (getPaymentProviders(host).get(name)?.isSandbox === true) return true;
  try {
    return getPaymentConnection(host, name).isTest === true;
  } catch {
    return false; // the provider's secret is missing, so the money that it reported may have been real
  }
}
