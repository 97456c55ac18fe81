import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { Steps } from '#core/platform/database/steps.ts';
import { paymentConnection, paymentProviders } from './connections.ts';

/*
 * Receipts: what a payment and its refunds are on paper. A plugin stores what they say when core records the money, and nothing changes it
 * afterwards; it numbers them later. Without that plugin, or where gateway.yaml names no seller, the page of the order is the receipt.
 */

type Queries = Pick<Database, 'query'>;

/** A stored receipt of a payment or refund of an order. */
export interface ReceiptReference {
  /** `payment` or `refund`: each kind has its own numbers. */
  readonly kind: 'payment' | 'refund';
  /** The payment that it is of, or that went back. */
  readonly paymentId: string;
  /** As people read it; undefined until it is numbered, and for a payment that moved no money. */
  readonly number: string | undefined;
  /** Pages of the buyer and of the operator. */
  readonly path: string;
  readonly operatorPath: string;
}

/** The receipt of a payment for the buyer's mail. */
export interface MailedReceipt {
  readonly seller: string;
  /** Undefined for a payment that moved no money. */
  readonly number: string | undefined;
  /** Of the refund that the mail is about, if it has one. */
  readonly refundNumber: string | undefined;
  /** It will have a number, and has none yet. */
  readonly isWaiting: boolean;
  /** Opens it without signing in, for a time. */
  readonly url: string;
}

/** A receipt in the books, with its number or without. Amounts of refunds are positive. */
export interface ReceiptLine {
  /** As it was named then. */
  readonly seller: string;
  readonly kind: 'payment' | 'refund';
  readonly at: Date;
  readonly number: string | undefined;
  /** Of the order. */
  readonly code: string;
  readonly buyer: string;
  readonly npwp: string | undefined;
  readonly gross: number;
  /** Equal to `gross` where no tax is stated. */
  readonly withoutTax: number;
  readonly tax: number;
  /** Amount of which the tax is a percentage; undefined where no tax is stated, and where the receipt does not say it. */
  readonly taxBase: number | undefined;
  /** Number of the payment that a refund is of. */
  readonly refundOf: string | undefined;
}

interface ReceiptSteps {
  /**
   * Stores the receipt of a payment that was recorded in this transaction. Core has locked the order and, where the payment activated
   * days, then the buyer's account; it takes no other lock that transactions share.
   *
   * @param isTest the payment moved no money
   */
  storePayment(
    host: Pick<Host, 'section' | 'service'>,
    transaction: EntityManager,
    paymentId: string,
    isTest: boolean,
  ): Promise<void>;
  /** The same for a refund that is done, if its payment has a receipt. Core has locked the order, perhaps also the account. */
  storeRefund(transaction: EntityManager, refundKey: string): Promise<void>;
  /** Receipts of an order, the first payment first. */
  listReceipts(database: Queries, orderId: string): Promise<ReceiptReference[]>;
  /** The company in whose name the receipt of an order is or will be, with its tax number. */
  readCompany(
    database: Queries,
    orderId: string,
  ): Promise<{ readonly name: string; readonly npwp: string | undefined } | undefined>;
  /**
   * The receipt of a payment, which is numbered first if it waits. Undefined where none was stored.
   *
   * @param refundKey of the refund that is mailed about
   */
  readMailed(host: Host, paymentId: string, refundKey?: string): Promise<MailedReceipt | undefined>;
  /** Receipts of payments and refunds of a time range in one currency, by time; undefined where this shop has never had any. */
  listLines(
    database: Queries,
    span: { readonly since: Date; readonly until: Date; readonly currency: string },
  ): Promise<ReceiptLine[] | undefined>;
  /** Years for which receipts outlive their account; undefined where none are stored. */
  keepYears(host: Pick<Host, 'section'>): number | undefined;
}

export const receiptSteps = new Steps<ReceiptSteps>();

/** Those of the plugin that stores receipts; undefined without it. */
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
    return false; // its secret is gone since; what it reported may be money
  }
}
