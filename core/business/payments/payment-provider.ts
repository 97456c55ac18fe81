import type { ProviderTerms } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';

/**
 * A payment provider: creates charges, reads their status, and reads the provider's notifications. It never changes an order or
 * the ledger: it returns evidence, and core decides. Register it with
 * `server.gateway.paymentProvider(…)`; an operator selects it with `payments: { provider: NAME }`.
 */
export interface PaymentProvider extends ProviderTerms {
  /** Name shown to buyers. */
  readonly title: string;
  /**
   * Returns the connection to the provider, with the settings of the plugin's own section of gateway.yaml. Called for each loaded
   * configuration that selects the provider, or has open orders of it although a different one is selected. Does no I/O.
   *
   * @throws Error if a secret is missing, because a provider without its secret must not accept anything
   */
  connect(host: Host): PaymentConnection;
}

/**
 * Calls to one provider. Each has a deadline in the signal, and rejects with a `PaymentError` only. Do not retry in an
 * implementation; core decides what may be retried.
 */
export interface PaymentConnection {
  /**
   * Calls per second that each endpoint of the provider accepts from one account, as documented; default: 20. An operator's
   * `payments.calls_per_second` replaces it.
   */
  readonly callsPerSecond?: number;
  /**
   * Creates a charge that is valid until `expiresAt`, or as close to it as the provider allows.
   *
   * @throws PaymentError `rejected`: the charge does not exist. `temporary`: it does not exist, and may be retried. `unknown`: it may
   * exist; core then reads its status before it creates another
   */
  charge(request: ChargeRequest, signal: AbortSignal): Promise<Charge>;
  /**
   * Reads a charge at the provider. The state is `unknown` if the provider has no such charge, or cannot look it up by our reference alone
   * (Xendit).
   *
   * @throws PaymentError `temporary`, or `rejected` if the provider rejects the account. Neither means "not paid".
   */
  status(charge: ChargeReference, signal: AbortSignal): Promise<PaymentEvidence>;
  /**
   * Verifies and reads a notification, synchronously and without I/O. Compare signatures with `timingSafeEqual` over
   * digests of equal length (`isSameSecret`). Returns undefined if it is not authentic, malformed, or meant for a different
   * merchant; core then refuses it with 403. Never throws.
   */
  readNotification(notification: RawNotification): PaymentNotification | undefined;
  /** Response that the provider expects to a stored notification; default: 200 without a body. */
  acknowledgement?: { readonly status: number; readonly body: string; readonly contentType: string };
  /**
   * Cancels or expires an unpaid charge. Returns the status read afterwards, which may be `paid`. Omit it if the provider does not
   * support it; the charge then expires by itself.
   */
  cancel?(charge: ChargeReference, signal: AbortSignal): Promise<PaymentEvidence>;
  /**
   * Refunds a payment in full or in part; `paymentId` selects it if a charge has several. Idempotent by `key`. `pending` until the provider
   * confirms it, by notification or status. Omit it if the provider does not support refunds; the operator then refunds manually.
   *
   * @throws PaymentError `rejected` if the refund window is over, or the buyer's bank takes no refunds
   */
  refund?(request: RefundRequest, signal: AbortSignal): Promise<Refund>;
  /**
   * True if a refund names a charge instead of one of its payments, so that the provider chooses the payment (Xendit). Core then refuses to
   * refund a payment through the provider while its charge has a second one, whose money could be returned instead.
   */
  readonly refundsCharges?: boolean;
  /**
   * Reads the status of a refund by its key. The state is `unknown` if the provider has no such refund. Omit it if the provider has
   * only `status`; a charge that is `refunded` then completes the refund.
   */
  refundStatus?(request: RefundRequest, signal: AbortSignal): Promise<Refund>;
  /**
   * Set while the account is in the provider's test mode. Its codes are placeholders that no wallet reads, so core neither checks nor shows
   * them, and the order's page shows this command instead.
   *
   * @returns a shell command, without secrets, that simulates the payment of a charge
   */
  simulation?: (charge: ChargeReference & Money) => string;
  /** True while the account is in the provider's test mode. Its payments move no money, so their receipts get no numbers. */
  readonly isTest?: boolean;
  /**
   * Lists the movements of a time range in any order, page by page: payments received, and completed refunds.
   * Omit it if the provider has no such list; core then reads the status of each charge, which cannot find money without a charge.
   *
   * @param cursor `next` of the previous page
   * @throws PaymentError
   */
  listMovements?(span: TimeSpan, cursor: string | undefined, signal: AbortSignal): Promise<MovementPage>;
}

/** `since` is inclusive, `until` exclusive. */
export interface TimeSpan {
  readonly since: Date;
  readonly until: Date;
}

/** A page of a provider's books. */
export interface MovementPage {
  readonly movements: readonly StatedMovement[];
  /** Undefined on the last page. */
  readonly next?: string | undefined;
}

/** A payment or refund in the provider's books. */
export interface StatedMovement extends Money {
  readonly kind: 'payment' | 'refund';
  /** Id of the payment as in evidence, or of the charge if the list names only that; of a refund, as in `StatedRefund`. */
  readonly id: string;
  /** The gateway's and the provider's reference of the charge, if the list has them. */
  readonly reference?: string | undefined;
  readonly providerReference?: string | undefined;
  /** Our key of a refund that the gateway requested. */
  readonly key?: string | undefined;
  readonly at: Date;
  /** The provider's fee, if known. */
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
  /** URL for this provider's notifications, for providers that take one with each charge. */
  readonly notificationUrl: string;
  readonly buyer: { readonly name: string; readonly email: string | undefined };
}

/** Names a charge at the provider. */
export interface ChargeReference {
  /** Our reference, from the request. */
  readonly reference: string;
  /** The provider's reference, from the charge; undefined while the outcome of `charge` is unknown. */
  readonly providerReference: string | undefined;
  /**
   * The provider's id of a payment, if a notification had one; core passes it to `status`. Xendit may accept a payment for a request that
   * has expired and remains expired.
   */
  readonly paymentId?: string | undefined;
}

/** A created charge. At least one of `qr` and `paymentUrl` is set. */
export interface Charge {
  readonly providerReference: string;
  /** Payload of the QR code (QRIS), rendered by core, which refuses a payload that is not for the amount of the charge in rupiah. */
  readonly qr?: string;
  /** Image or page at the provider, `https:`, if there is no payload. */
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
  /** Converted from the provider's time zone; Midtrans sends times in GMT+7 without an offset. */
  readonly paidAt?: Date;
  /** Bank or wallet of the buyer. */
  readonly issuer?: string;
  /**
   * All refunds of this payment, excluding other payments of the charge. Omit it if the provider does not list them; `refunded` then
   * means that the whole remainder was returned.
   */
  readonly refunds?: readonly StatedRefund[];
  /** The provider's response, stored for the operator. JSON, at most 64 KB, without secrets. */
  readonly raw: unknown;
}

/** A notification as received. */
export interface RawNotification {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Untouched bytes, at most 64 KB: some signatures cover exactly these. */
  readonly body: Buffer;
  readonly query: URLSearchParams;
}

/** An authentic notification. Core finds its charge by either reference; `reference` is empty if it has none. */
export interface PaymentNotification extends ChargeReference {
  /** Key of the event: equal for repeated deliveries, different for other events of the same charge. */
  readonly eventKey: string;
  /** The `key` of the refund concerned: core reads `refundStatus` in addition to `status`. */
  readonly refundKey?: string;
  /**
   * The evidence of the notification itself, if its signature covers state, amount and both references (Tripay). Omit it
   * otherwise (Midtrans does not sign the state, Xendit not the body): core then reads the status first.
   */
  readonly evidence?: PaymentEvidence;
}

/** A refund to request. */
export interface RefundRequest extends ChargeReference, Money {
  /** Unique for each refund; at most 40 characters of letters, digits, `-` and `_`. */
  readonly key: string;
  readonly reason: string;
}

/** A refund as the provider lists it with its payment. */
export interface StatedRefund {
  /** The provider's id of the refund, unique in the account. */
  readonly id: string;
  /** Our key, for a refund that the gateway requested. */
  readonly key?: string | undefined;
  readonly amount: number;
  readonly state: 'pending' | 'done' | 'failed';
  /** Time of the refund. */
  readonly at?: Date | undefined;
}

/** The status of a refund. `unknown`: the provider has no such refund, or not yet. */
export interface Refund {
  readonly state: 'pending' | 'done' | 'failed' | 'unknown';
  /** Time of the refund, if the provider reports it. The books use it. */
  readonly at?: Date | undefined;
  readonly raw: unknown;
}

/**
 * Why a call to a provider failed.
 *
 * - `rejected`: the provider rejected it; repeating it changes nothing.
 * - `temporary`: it had no effect, and may be repeated: rate limit, or no connection.
 * - `unknown`: it may have had an effect: a timeout, a 5xx or a malformed response after the request was sent.
 */
export class PaymentError extends Error {
  override readonly name = 'PaymentError';
  readonly kind: 'rejected' | 'temporary' | 'unknown';
  /** Seconds to wait, if the provider stated them. */
  readonly retryAfter: number | undefined;
  /** True for a `temporary` error caused by too many calls. Core slows down and repeats the call. */
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
