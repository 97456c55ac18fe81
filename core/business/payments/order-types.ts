import type { RateLimits } from '#core/gateway/facts.ts';

/**
 * `created`: no charge yet. `pending`: can be paid. `expired`, `failed`, `cancelled`: not paid, but becomes `paid` if a payment arrives
 * late. `refunded`: the whole payment was refunded.
 */
export type OrderState = (typeof orderStates)[number];

export const orderStates = ['created', 'pending', 'expired', 'failed', 'cancelled', 'paid', 'refunded'] as const;

/** A sale: account, plan and price when the order was placed, and its payment. */
export interface Order {
  readonly id: string;
  readonly code: string; // human-readable: `ORD-7F3K2MQX`
  readonly accountId: string;
  readonly days: number;
  readonly price: number; // in the smallest unit in which the currency is priced
  readonly currency: string; // ISO 4217
  readonly label: string | undefined;
  readonly limits: RateLimits | undefined;
  readonly provider: string;
  readonly isGift: boolean; // the days go to the account that redeems the code, not to the buyer
  readonly gift: Gift | undefined; // undefined until a gift is paid
  readonly state: OrderState;
  readonly isLate: boolean; // true if it was paid after it had expired, failed or been canceled
  readonly createdAt: Date;
  readonly expiresAt: Date; // payment deadline
  readonly paidAt: Date | undefined;
  readonly attempt: PaymentAttempt | undefined; // the latest one
  /** The period that the order bought for its buyer, as now recorded in the ledger; undefined for a gift, or if nothing of it remains. */
  readonly period: { readonly startsAt: Date; readonly endsAt: Date } | undefined;
  readonly payments: readonly Payment[];
  readonly flags: readonly OrderFlag[];
  readonly refunds: readonly OrderRefund[];
  readonly readAt: Date; // database time at which the order was read
}

interface LocalizedText {
  readonly en: string;
  readonly id: string;
}

/** A line about an order: `Order reference: 4711`. */
export interface OrderLine {
  readonly label: LocalizedText;
  readonly text: LocalizedText;
  /** Where the line links to: a path on this gateway, or an https URL. */
  readonly path?: string | undefined;
}

/** State of a gift. The buyer sees when it was redeemed; only operators see who redeemed it, and their days. */
export interface Gift {
  readonly state: 'open' | 'redeemed' | 'revoked' | 'expired';
  readonly hint: string; // the last characters of the code
  readonly expiresAt: Date;
  readonly redeemedAt: Date | undefined;
  readonly revokedAt: Date | undefined;
  readonly redeemedBy: string | undefined; // account id
  /** The redeemer's period, as now recorded in the ledger; undefined if nothing of it remains. */
  readonly period: { readonly startsAt: Date; readonly endsAt: Date } | undefined;
}

/** One charge at the provider. */
export interface PaymentAttempt {
  readonly reference: string; // our reference for it at the provider: the order's code and the attempt's number
  readonly providerReference: string | undefined;
  readonly number: number;
  /** `unknown`: the charge may exist at the provider. `none`: it does not, and is retried. `rejected`: it never will. */
  readonly charge: 'unknown' | 'none' | 'created' | 'rejected';
  readonly qr: string | undefined; // payload of the QR code
  readonly paymentUrl: string | undefined; // of an image or page at the provider
  readonly amount: number; // amount to pay; includes the provider's fee if it adds one
  readonly currency: string;
  readonly expiresAt: Date;
  readonly checkedAt: Date | undefined;
  readonly error: string | undefined; // of the last call to the provider, for operators
}

/** Money received. */
export interface Payment {
  readonly id: string;
  readonly reference: string;
  readonly paymentId: string; // the provider's id
  readonly amount: number;
  readonly currency: string;
  readonly paidAt: Date;
  readonly issuer: string | undefined; // the buyer's bank or wallet
  readonly outcome: PaymentOutcome;
  readonly fee: number | undefined; // the provider's, if known
}

/**
 * What a payment did. `activated`: it bought the order's days. All others bought nothing and are flagged for operators, except `returned`:
 * it was refunded before it was recorded. `wrong_reference`: it was made for another charge of the order, which was never shown.
 */
export type PaymentOutcome = (typeof paymentOutcomes)[number];

export const paymentOutcomes = [
  'activated',
  'wrong_amount',
  'wrong_currency',
  'second',
  'returned',
  'wrong_reference',
] as const;

/** Why an order needs an operator. */
export type FlagKind = (typeof flagKinds)[number];

export const flagKinds = [
  'wrong_amount',
  'wrong_currency',
  'second_payment',
  'disputed',
  'refund_failed',
  'reversed', // the provider confirmed a payment, and now reports it as failed
  'wrong_reference', // a payment names this order, but a different charge at the provider
  'deleted_account', // paid after the account was deleted; the days cannot be used
  'refunded_twice', // more was refunded than was paid
  'not_in_books', // the provider's books contain money that is not on record here, with or without an order
  'not_at_provider', // money on record here is missing from the provider's books, or has a different amount there
  'invalid_qr', // the QR code was not for the order's amount, so it was not shown
  'refund_unconfirmed', // for a week, the provider has neither confirmed nor rejected a refund
  'unusual_qr', // the QR code was for the order's amount and was shown, but it could be paid twice or violates the standard
  'gift_without_code', // paid while no plugin issued codes; the days went to the buyer
] as const;

/** What the operator decided about money that bought nothing. The buyer is told. */
export type FlagOutcome = (typeof flagOutcomes)[number];

export const flagOutcomes = ['days_given', 'money_back', 'kept'] as const;

/** Something about an order that an operator must decide. */
export interface OrderFlag {
  readonly id: string;
  readonly kind: FlagKind;
  readonly subject: string; // the payment or refund that it is about
  readonly createdAt: Date;
  readonly resolvedAt: Date | undefined;
  readonly resolution: string | undefined;
  readonly outcome: FlagOutcome | undefined;
}

/** A refund of one payment, in full or in part. */
export interface OrderRefund {
  readonly key: string; // our reference for the refund at the provider
  readonly paymentId: string; // our id for the payment
  readonly amount: number;
  readonly currency: string;
  /** `asked`: recorded, and possibly requested. `sent`: accepted by the provider, but not confirmed. */
  readonly state: 'asked' | 'sent' | 'done' | 'failed';
  readonly days: DaysBack;
  readonly isManual: boolean; // an operator paid it back outside the provider
  readonly reason: string;
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
}

/**
 * Which days a refund takes back once it is done. `whole`: all days that the payment bought; other days of the account make up for those
 * already used. `unused`: only the days not yet used. Days can be taken back only for a payment that bought days.
 */
export type DaysBack = (typeof daysBackOptions)[number];

/** In the order in which forms list them, the most common one first. */
export const daysBackOptions = ['unused', 'whole', 'none'] as const;

export function isRefundInProgress({ refunds }: Pick<Order, 'refunds'>, { id }: Payment): boolean {
  return refunds.some(({ paymentId, state }) => paymentId === id && (state === 'asked' || state === 'sent'));
}

/** Returns the amount of a payment that can still be refunded; 0 if it was refunded twice. Refunds in progress count as paid back. */
export function computeRefundable({ refunds }: Pick<Order, 'refunds'>, { id, amount }: Payment): number {
  const paidBack = refunds
    .filter(({ paymentId, state }) => paymentId === id && state !== 'failed')
    .reduce((sum, refund) => sum + refund.amount, 0);
  return Math.max(0, amount - paidBack);
}
