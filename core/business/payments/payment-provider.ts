import type { ProviderTerms } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';

/**
 * A payment provider: creates charges, reads their status, and reads the provider's notifications. It never changes an order or
 * the ledger: it returns evidence, and core decides. Register it with
 * `server.gateway.paymentProvider(…)`; an operator selects it with `payments: { provider: NAME }`.
 */
export interface PaymentProvider extends ProviderTerms {
  /** As buyers read it. */
  readonly title: string;
  /**
   * Returns the calls to the provider, with the settings of the plugin's own section of gateway.yaml. Called for each
   * loaded configuration that selects it, and for those with open orders of it after another was selected. Does no I/O.
   *
   * @throws Error when a secret is missing: a provider without its secret never accepts anything
   */
  connect(host: Host): PaymentConnection;
}

/**
 * Calls to one provider. Each has a deadline in the signal, and rejects with a `PaymentError` only. Do not retry in an
 * implementation; core decides what may be retried.
 */
export interface PaymentConnection {
  /**
   * Calls in a second that each endpoint of the provider takes from one account, as documented; 20 when left out, for a
   * provider that documents none. An operator's `payments.calls_per_second` replaces it.
   */
  readonly callsPerSecond?: number;
  /**
   * Creates a charge that is valid until `expiresAt`, or as near to that as the provider allows.
   *
   * @throws PaymentError `rejected`: it does not exist. `temporary`: it does not exist, and may be tried again.
   *   `unknown`: it may exist; core then reads its status before it creates another
   */
  charge(request: ChargeRequest, signal: AbortSignal): Promise<Charge>;
  /**
   * Reads a charge at the provider. The state is `unknown` when the provider has no such charge, or cannot look it up by
   * our reference alone (Xendit).
   *
   * @throws PaymentError `temporary`, or `rejected` when the provider refuses the account. Neither means "not paid".
   */
  status(charge: ChargeReference, signal: AbortSignal): Promise<PaymentEvidence>;
  /**
   * Verifies and reads a notification, synchronously and without I/O. Compare signatures with `timingSafeEqual` over
   * digests of equal length (`isSameSecret`). Undefined when it is not authentic, malformed, or meant for another
   * merchant: core refuses it with 403. Never throws.
   */
  readNotification(notification: RawNotification): PaymentNotification | undefined;
  /** The response that the provider expects to a notification that has been stored; 200 without a body when left out. */
  acknowledgement?: { readonly status: number; readonly body: string; readonly contentType: string };
  /**
   * Cancels or expires an unpaid charge. Returns the status read afterwards, which may be `paid`. Omit it if the provider does not
   * support it; the charge then expires by itself.
   */
  cancel?(charge: ChargeReference, signal: AbortSignal): Promise<PaymentEvidence>;
  /**
   * Refunds a payment, in full or in part, `paymentId` where a charge has several. Idempotent by `key`. `pending` until the
   * provider confirms it, by notification or status. Omit it if the provider does not support refunds; the operator then
   * refunds manually.
   *
   * @throws PaymentError `rejected` when the window is over or the buyer's bank takes no refunds
   */
  refund?(request: RefundRequest, signal: AbortSignal): Promise<Refund>;
  /**
   * True: a refund names a charge and not one of its payments, so the provider chooses (Xendit). Core refuses to refund a payment
   * through the provider while its charge has another one, whose money could go back instead.
   */
  readonly refundsCharges?: boolean;
  /**
   * Reads the status of a refund by its key: `unknown` when the provider has no such refund. Omit it if the provider has only
   * `status`: a charge that is `refunded` then completes the refund.
   */
  refundStatus?(request: RefundRequest, signal: AbortSignal): Promise<Refund>;
  /**
   * Set while the account is in the provider's test mode, whose codes are placeholders that no wallet reads: core neither
   * checks nor shows them, and the page of the order shows this in their place.
   *
   * @returns a command of a shell that simulates the payment of a charge, without secrets
   */
  simulation?: (charge: ChargeReference & Money) => string;
  /** True while the account is in the provider's test mode, where payments move no money: their receipts get no numbers. */
  readonly isTest?: boolean;
  /**
   * Lists the movements of a time range in any order, page by page: payments received, and completed refunds.
   * Omit it if the provider has no such list: core then reads the status of each charge, which finds no money without one.
   *
   * @param cursor `next` of the page before
   * @throws PaymentError
   */
  listMovements?(span: TimeSpan, cursor: string | undefined, signal: AbortSignal): Promise<MovementPage>;
}

/** From `since` on, before `until`. */
export interface TimeSpan {
  readonly since: Date;
  readonly until: Date;
}

/** Some entries of a provider's books. */
export interface MovementPage {
  readonly movements: readonly StatedMovement[];
  /** Undefined on the last page. */
  readonly next?: string | undefined;
}

/** A payment or refund in the provider's books. */
export interface StatedMovement extends Money {
  readonly kind: 'payment' | 'refund';
  /** Of the payment as evidence names it, or of the charge where the list names only that; of the refund as `StatedRefund` does. */
  readonly id: string;
  /** Of the charge, the gateway's and the provider's, as far as the list has them. */
  readonly reference?: string | undefined;
  readonly providerReference?: string | undefined;
  /** The key of a refund that the gateway has asked for. */
  readonly key?: string | undefined;
  readonly at: Date;
  /** Of the provider, where it is known. */
  readonly fee?: number | undefined;
}

/** An amount in the smallest unit that the currency is priced in: whole rupiah for IDR, which is sent without decimals. */
export interface Money {
  readonly amount: number; // integer, at most Number.MAX_SAFE_INTEGER
  readonly currency: string; // ISO 4217
}

/** A charge to create. One order may have several attempts, each with its own reference. */
export interface ChargeRequest extends Money {
  /** The gateway's reference; never reused, so it is also the idempotency key. At most 40 letters, digits, `-` and `.`. */
  readonly reference: string;
  /** At most 60 characters of ASCII, shown to the buyer. */
  readonly description: string;
  readonly expiresAt: Date;
  /** Address for this provider's notifications, for providers that take one with each charge. */
  readonly notificationUrl: string;
  readonly buyer: { readonly name: string; readonly email: string | undefined };
}

/** Names a charge at the provider. */
export interface ChargeReference {
  /** Ours, from the request. */
  readonly reference: string;
  /** The provider's, from the charge; undefined while the outcome of `charge` is unknown. */
  readonly providerReference: string | undefined;
  /**
   * The provider's name of a payment, where a notification had one: core hands it to `status`. Xendit may take a payment
   * for a request that is and stays expired.
   */
  readonly paymentId?: string | undefined;
}

/** A created charge. At least one of `qr` and `paymentUrl` is set. */
export interface Charge {
  readonly providerReference: string;
  /** Payload of the QR code (QRIS), rendered by us. Core refuses one that is not for the amount of the charge, in rupiah. */
  readonly qr?: string;
  /** Image or page of the provider, `https:`, where there is no payload. */
  readonly paymentUrl?: string;
  /** The provider's expiry of the charge. Default: `expiresAt` of the request. */
  readonly expiresAt?: Date;
  /** The amount to pay, where the provider adds a fee. Default: the amount of the request. */
  readonly total?: Money;
}

/**
 * State of a payment, independent of the provider: `pending`, `paid`, `expired`, `failed` (denied, cancelled),
 * `refunded` (all of it; a part is `paid`, with the `refunds`), `disputed` (charged back, or paid in parts of a rupiah: the
 * operator decides), `unknown` (not found).
 */
export type PaymentState = 'pending' | 'paid' | 'expired' | 'failed' | 'refunded' | 'disputed' | 'unknown';

/** A provider's report of one charge. */
export interface PaymentEvidence extends ChargeReference {
  readonly state: PaymentState;
  /**
   * The provider's id of this payment; two ids for one charge are two payments. Omit it while the provider has not assigned one:
   * the first id reported later is taken for the same payment.
   */
  readonly paymentId?: string | undefined;
  /** The amount paid, parsed from text without floating point; undefined before payment. */
  readonly paid?: Money;
  /** With the provider's time zone applied: Midtrans states GMT+7 without saying so. */
  readonly paidAt?: Date;
  /** Bank or wallet of the buyer. */
  readonly issuer?: string;
  /**
   * All refunds of this payment, none of another payment of the charge. Omit it if the provider does not list them: `refunded`
   * then returns what is missing.
   */
  readonly refunds?: readonly StatedRefund[];
  /** The provider's response, stored for the operator. JSON, at most 64 KB, without secrets. */
  readonly raw: unknown;
}

/** A notification as it arrived. */
export interface RawNotification {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Untouched bytes, at most 64 KB: some signatures cover exactly these. */
  readonly body: Buffer;
  readonly query: URLSearchParams;
}

/** A notification that is authentic. Core finds its charge by either reference; `reference` is empty when it has none. */
export interface PaymentNotification extends ChargeReference {
  /** Names the event: the same one that arrives twice has the same key, another one of the same charge does not. */
  readonly eventKey: string;
  /** The `key` of the refund that it is about: core reads `refundStatus` in addition to `status`. */
  readonly refundKey?: string;
  /**
   * The evidence of the notification itself, if its signature covers state, amount and both references (Tripay). Omit it
   * otherwise (Midtrans does not sign the state, Xendit not the body): core then reads the status first.
   */
  readonly evidence?: PaymentEvidence;
}

/** Money to return. */
export interface RefundRequest extends ChargeReference, Money {
  /** Unique for each refund; at most 40 characters of letters, digits, `-` and `_`. */
  readonly key: string;
  readonly reason: string;
}

/** A refund as the provider lists it with its payment. */
export interface StatedRefund {
  /** The provider's name of it, unique in the account. */
  readonly id: string;
  /** The key of the request, for one that the gateway has asked for. */
  readonly key?: string | undefined;
  readonly amount: number;
  readonly state: 'pending' | 'done' | 'failed';
  /** Time of the refund. */
  readonly at?: Date | undefined;
}

/** The status of a refund. `unknown`: the provider has no such refund, or not yet. */
export interface Refund {
  readonly state: 'pending' | 'done' | 'failed' | 'unknown';
  /** Time of the refund, if the provider reports it. Books date the refund by it. */
  readonly at?: Date | undefined;
  readonly raw: unknown;
}

/**
 * Why a call to a provider failed.
 *
 * - `rejected`: the provider refused it; repeating it changes nothing.
 * - `temporary`: it had no effect, and may be repeated: rate limit, or no connection.
 * - `unknown`: it may have had its effect: a timeout, a 5xx or a malformed answer after the request was sent.
 */
export class PaymentError extends Error {
  override readonly name = 'PaymentError';
  readonly kind: 'rejected' | 'temporary' | 'unknown';
  /** Seconds, where the provider stated them. */
  readonly retryAfter: number | undefined;
  /** True: `temporary`, because too many calls were made. Core slows down, and makes the call again. */
  readonly isRateLimited: boolean;

  constructor(
    kind: PaymentError['kind'],
    message: string,
    options: { readonly retryAfter?: number; readonly isRateLimited?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.retryAfter = options.retryAfter;
    this.isRateLimited = options.isRateLimited ?? false;
  }
}
