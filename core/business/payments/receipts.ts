import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { Steps } from '#core/platform/database/steps.ts';
import { paymentConnection, paymentProviders } from './connections.ts';

/*
 * Receipts of payments and refunds. A plugin stores a receipt when core records the money; it never changes, and is numbered later. Without
 * that plugin, or if gateway.yaml names no seller, the order's page is the receipt.
 */

type Queries = Pick<Database, 'query'>;

/** A stored receipt of a payment or refund of an order. */
export interface ReceiptReference {
  /** `payment` or `refund`: each kind has its own numbers. */
  readonly kind: 'payment' | 'refund';
  /** The payment itself, or the refunded one. */
  readonly paymentId: string;
  /** As printed; undefined until it is numbered, and for a payment that moved no money. */
  readonly number: string | undefined;
  /** Page for the buyer; `operatorPath` is the one for the operator. */
  readonly path: string;
  readonly operatorPath: string;
}

/** The receipt of a payment for the buyer's mail. */
export interface MailedReceipt {
  readonly seller: string;
  /** Undefined for a payment that moved no money. */
  readonly number: string | undefined;
  /** Number of the refund that the mail is about, if any. */
  readonly refundNumber: string | undefined;
  /** True if a number will follow. */
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
  /** Amount that the tax is a percentage of; undefined if no tax is stated, or the receipt does not say it. */
  readonly taxBase: number | undefined;
  /** Number of the refunded payment's receipt. */
  readonly refundOf: string | undefined;
}

interface ReceiptSteps {
  /**
   * Stores the receipt of a payment recorded in this transaction. Core has locked the order and, if the payment activated days, then the
   * buyer's account; take no other lock that transactions share.
   *
   * @param isTest the payment moved no money
   */
  storePayment(
    host: Pick<Host, 'section' | 'service'>,
    transaction: EntityManager,
    paymentId: string,
    isTest: boolean,
  ): Promise<void>;
  /** Stores the receipt of a finished refund, if its payment has one. Core has locked the order, perhaps also the account. */
  storeRefund(transaction: EntityManager, refundKey: string): Promise<void>;
  /** Receipts of an order, the first payment first. */
  listReceipts(database: Queries, orderId: string): Promise<ReceiptReference[]>;
  /** Company that the order's receipt is or will be made out to, with its tax number. */
  readCompany(
    database: Queries,
    orderId: string,
  ): Promise<{ readonly name: string; readonly npwp: string | undefined } | undefined>;
  /**
   * The receipt of a payment, numbered first if it waits for a number. Undefined if none was stored.
   *
   * @param refundKey the refund that the mail is about
   */
  readMailed(host: Host, paymentId: string, refundKey?: string): Promise<MailedReceipt | undefined>;
  /** Receipts of a time range in one currency, by time; undefined if this shop has never had any. */
  listLines(
    database: Queries,
    span: { readonly since: Date; readonly until: Date; readonly currency: string },
  ): Promise<ReceiptLine[] | undefined>;
  /** Years for which receipts outlive their account; undefined if none are stored. */
  keepYears(host: Pick<Host, 'section'>): number | undefined;
}

export const receiptSteps = new Steps<ReceiptSteps>();

/** Returns the steps of the plugin that stores receipts; undefined without one. */
export async function receiptsOf(database: Pick<Database, 'fork'>): Promise<ReceiptSteps | undefined> {
  return receiptSteps.of(database.fork())?.();
}

/** Stores the receipt of a payment within the transaction that records it. */
export async function storePaymentReceipt(
  host: Host,
  transaction: EntityManager,
  provider: string,
  paymentId: string,
): Promise<void> {
  const steps = await receiptSteps.of(transaction)?.();
  await steps?.storePayment(host, transaction, paymentId, isTest(host, provider));
}

/** Stores the receipt of a refund within the transaction that finishes it. */
export async function storeRefundReceipt(transaction: EntityManager, refundKey: string): Promise<void> {
  const steps = await receiptSteps.of(transaction)?.();
  await steps?.storeRefund(transaction, refundKey);
}

/** True while payments of a provider move no money: a sandbox, or an account in test mode. */
function isTest(host: Host, name: string): boolean {
  if (paymentProviders(host).get(name)?.isSandbox === true) return true;
  try {
    return paymentConnection(host, name).isTest === true;
  } catch {
    return false; // its secret is gone; what it reported may be real money
  }
}
