import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import { Steps } from '#core/platform/database/steps.ts';
import { getPaymentConnection, getPaymentProviders } from './connections.ts';
import { orderTexts } from './order-reason.ts';
import type { Order, OrderLine } from './order-types.ts';

/*
 * Receipts of payments and refunds. A plugin stores a receipt when core records the money, and numbers it later; a receipt never changes
 * otherwise. Without that plugin, or if gateway.yaml names no seller, the order's page is the receipt.
 */

/** A stored receipt of a payment or refund of an order. */
export interface ReceiptReference {
  /** `payment` or `refund`: each kind has its own numbers. */
  readonly kind: 'payment' | 'refund';
  /** The payment itself, or the refunded one. */
  readonly paymentId: string;
  /** As printed; undefined until it is numbered, and for a payment that moved no money. */
  readonly number: string | undefined;
  /** Page for the buyer. The operator's page is at `operatorPath`. */
  readonly path: string;
  readonly operatorPath: string;
}

/** The receipt of a payment, for the email to the buyer. */
export interface MailedReceipt {
  readonly seller: string;
  /** Undefined for a payment that moved no money. */
  readonly number: string | undefined;
  /** Number of the refund that the email is about, if any. */
  readonly refundNumber: string | undefined;
  /** True if the receipt will get a number. */
  readonly isWaiting: boolean;
  /** Opens the receipt without signing in, for a limited time. */
  readonly url: string;
}

/** A receipt in the books, numbered or not. Refund amounts are positive. */
export interface ReceiptLine {
  /** The seller's name at that time. */
  readonly seller: string;
  readonly kind: 'payment' | 'refund';
  readonly at: Date;
  readonly number: string | undefined;
  /** The order's code. */
  readonly code: string;
  readonly buyer: string;
  readonly npwp: string | undefined;
  readonly gross: number;
  /** Equal to `gross` if no tax is stated. */
  readonly withoutTax: number;
  readonly tax: number;
  /** Amount that the tax is a percentage of; undefined if the receipt states none. */
  readonly taxBase: number | undefined;
  /** Number of the refunded payment's receipt. */
  readonly refundOf: string | undefined;
}

/** What core knows of a sale that its receipt states or depends on. */
export interface Sale {
  /** True if the payment moved no money. */
  readonly isTest: boolean;
  /** Printed after the name of the plan, by language: how it was sold. */
  readonly remark: OrderLine['text'] | undefined;
}

interface ReceiptSteps {
  /**
   * Stores the receipt of a payment recorded in this transaction. Core has locked the order and, if the payment activated days, then the
   * buyer's account; take no other lock that transactions share.
   */
  storePayment(
    host: Pick<Host, 'section' | 'service'>,
    transaction: EntityManager,
    paymentId: string,
    sale: Sale,
  ): Promise<void>;
  /** Stores the receipt of a finished refund, if its payment has one. Core has locked the order, and perhaps the account. */
  storeRefund(transaction: EntityManager, refundKey: string): Promise<void>;
  /** Lists the receipts of an order, starting with the first payment. */
  listReceipts(database: Queries, orderId: string): Promise<ReceiptReference[]>;
  /** Reads the company to which the order's receipt is or will be issued, with its tax number. */
  readCompany(
    database: Queries,
    orderId: string,
  ): Promise<{ readonly name: string; readonly npwp: string | undefined } | undefined>;
  /**
   * Reads the receipt of a payment, after numbering it if it has no number yet. Returns undefined if none was stored.
   *
   * @param refundKey the refund that the email is about
   */
  readMailedReceipt(host: Host, paymentId: string, refundKey?: string): Promise<MailedReceipt | undefined>;
  /** Lists the receipts of a time range in one currency, by time; undefined if this shop has never had any. */
  listReceiptLines(
    database: Queries,
    span: { readonly since: Date; readonly until: Date; readonly currency: string },
  ): Promise<ReceiptLine[] | undefined>;
  /** Returns the years for which receipts outlive their account; undefined if no receipts are stored. */
  readRetentionYears(host: Pick<Host, 'section'>): number | undefined;
}

/** Steps of the plugin that stores receipts. */
export const receiptSteps = new Steps<ReceiptSteps>();

/** Returns the steps of the plugin that stores receipts; undefined without one. */
export async function loadReceiptSteps(database: Transactions): Promise<ReceiptSteps | undefined> {
  return receiptSteps.findLoader(database.fork())?.();
}

const giftRemark = { en: orderTexts.en['receipts.gift'], id: orderTexts.id['receipts.gift'] };

/** Stores the receipt of a payment within the transaction that records it. */
export async function storePaymentReceipt(
  host: Host,
  transaction: EntityManager,
  provider: string,
  paymentId: string,
  { isGift }: Pick<Order, 'isGift'>,
): Promise<void> {
  const steps = await receiptSteps.findLoader(transaction)?.();
  const sale = { isTest: isTest(host, provider), remark: isGift ? giftRemark : undefined };
  await steps?.storePayment(host, transaction, paymentId, sale);
}

/** Stores the receipt of a refund within the transaction that finishes it. */
export async function storeRefundReceipt(transaction: EntityManager, refundKey: string): Promise<void> {
  const steps = await receiptSteps.findLoader(transaction)?.();
  await steps?.storeRefund(transaction, refundKey);
}

/** Returns true while payments of a provider move no money: in a sandbox, or with an account in test mode. */
function isTest(host: Host, name: string): boolean {
  if (getPaymentProviders(host).get(name)?.isSandbox === true) return true;
  try {
    return getPaymentConnection(host, name).isTest === true;
  } catch {
    return false; // its secret is gone, so what it reported may be real money
  }
}
