import type { ProviderTerms } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';

/**
 * A payment provider: creates charges, reads their status, and reads the provider's notifications. It never changes an order or the ledger:
 * it returns evidence, and core decides. Register it with `server.gateway.paymentProvider(…)`; operators select it with `payments: {
 * provider: NAME }`.
 */
export interface PaymentProvider extends ProviderTerms {
  /** The name that buyers see. */
  readonly title: string;
  /**
   * Returns the connection to the provider, with the settings from the plugin's own section in gateway.yaml. Called for each loaded
   * configuration that selects the provider, or that selects another one while orders with this provider are still open. Must not do I/O.
   *
   * @throws Error if a secret is missing, because a provider without its secret must not accept anything
   */
  connect(host: Host): PaymentConnection;
}

/**
 * Calls to one provider. Each call's deadline is in its signal. Calls must reject only with a `PaymentError`. Do not retry in an
 * implementation: core decides what may be retried.
 */
export interface PaymentConnection {
  /**
   * Documented number of calls per second that each of the provider's endpoints accepts from one account; default: 20.
   * `payments.calls_per_second` in gateway.yaml overrides it.
   */
  readonly callsPerSecond?: number;
  /**
   * Creates a charge that is valid until `expiresAt`, or as close to it as the provider allows.
   *
   * @throws PaymentError `rejected`: the charge does not exist. `temporary`: it does not exist, and may be retried. `unknown`: it may
   *   exist; core then reads its status before it creates another one
   */
  charge(request: ChargeRequest, signal: AbortSignal): Promise<Charge>;
  /**
   * Reads a charge at the provider. Return the state `unknown` if the provider has no such charge, or cannot look it up by our reference
   * alone (as with Xendit).
   *
   * @throws PaymentError `temporary`, or `rejected` if the provider rejects the account. Neither means "not paid".
   */
  status(charge: ChargeReference, signal: AbortSignal): Promise<PaymentEvidence>;
  /**
   * Verifies and reads a notification, synchronously and without I/O. Compare signatures with `timingSafeEqual` on digests of equal length
   * (`isSameSecret`). Return undefined if the notification is not authentic, is malformed, or is meant for a different merchant;
   * core then refuses it with 403. Must not throw.
   */
  readNotification(notification: RawNotification): PaymentNotification | undefined;
  /** The response that the provider expects once a notification is stored; default: 200 without a body. */
  acknowledgement?: { readonly status: number; readonly body: string; readonly contentType: string };
  /**
   * Cancels or expires an unpaid charge. Returns the status that the charge has afterwards, which may be `paid`. Omit this method if the
   * provider cannot cancel; the charge then expires by itself.
   */
  cancel?(charge: ChargeReference, signal: AbortSignal): Promise<PaymentEvidence>;
  /**
   * Refunds a payment in full or in part; if the charge has several payments, `paymentId` says which one. Idempotent by `key`. The refund
   * is `pending` until the provider confirms it, by notification or status. Omit this method if the provider does not support refunds;
   * operators then refund manually.
   *
   * @throws PaymentError `rejected` if it is too late for a refund, or the buyer's bank does not accept refunds
   */
  refund?(request: RefundRequest, signal: AbortSignal): Promise<Refund>;
  /**
   * True if a refund can name only a charge and not one of its payments, so that the provider chooses the payment (as with Xendit). If such
   * a charge has a second payment, core refuses to refund through the provider, because it could return the wrong money.
   */
  readonly refundsCharges?: boolean;
  /**
   * Reads the status of a refund by its key. Return the state `unknown` if the provider has no such refund. Omit this method if the
   * provider only has `status`; a charge that is `refunded` then completes the refund.
   */
  refundStatus?(request: RefundRequest, signal: AbortSignal): Promise<Refund>;
  /**
   * Set if the account is in the provider's test mode. The charges' codes are then placeholders that no wallet can read. Core neither
   * checks nor shows them; the order's page shows this command instead.
   *
   * @returns a shell command, without secrets, that simulates paying a charge
   */
  simulation?: (charge: ChargeReference & Money) => string;
  /** True if the account is in the provider's test mode. Its payments move no money, so their receipts get no numbers. */
  readonly isTest?: boolean;
  /**
   * Lists the movements in a time range, page by page and in any order: payments received, and completed refunds. Omit this method if the
   * provider has no such list; core then reads the status of each charge, which cannot find money that has no charge.
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
  /** The payment's id as in evidence, or the charge's if the list has only that; for a refund, its id as in `StatedRefund`. */
  readonly id: string;
  /** The gateway's and the provider's references for the charge, if the list has them. */
  readonly reference?: string | undefined;
  readonly providerReference?: string | undefined;
  /** Our key, if the gateway requested the refund. */
  readonly key?: string | undefined;
  readonly at: Date;
  /** The provider's fee, if known. */
  readonly fee?: number | undefined;
}

/** An amount in the smallest unit in which the currency is priced: whole rupiah for IDR, which is sent without decimals. */
export interface Money {
  readonly amount: number; // integer, at most Number.MAX_SAFE_INTEGER
  readonly currency: string; // ISO 4217
}

/** A charge to create. One order may have several attempts, each with its own reference. */
export interface ChargeRequest extends Money {
  /** The gateway's reference. It is never reused, so it also serves as the idempotency key. At most 40 letters, digits, `-` and `.`. */
  readonly reference: string;
  /** At most 60 ASCII characters; shown to the buyer. */
  readonly description: string;
  readonly expiresAt: Date;
  /** URL for notifications, for providers that accept one with each charge. */
  readonly notificationUrl: string;
  readonly buyer: { readonly name: string; readonly email: string | undefined };
}

/** Identifies a charge at the provider. */
export interface ChargeReference {
  /** Our reference, as in the request. */
  readonly reference: string;
  /** The provider's reference, as in the charge; undefined while the outcome of `charge` is unknown. */
  readonly providerReference: string | undefined;
  /**
   * The provider's id for a payment, if a notification contained one; core passes it to `status`. Xendit may accept a payment for a request
   * that has expired and remains expired.
   */
  readonly paymentId?: string | undefined;
}

/** A created charge. At least one of `qr` and `paymentUrl` is set. */
export interface Charge {
  readonly providerReference: string;
  /** Payload of the QR code (QRIS). Core renders it, and refuses one that is not for the charge's amount in rupiah. */
  readonly qr?: string;
  /** Image or page at the provider, `https:`, if there is no payload. */
  readonly paymentUrl?: string;
  /** When the charge expires at the provider. Default: `expiresAt` of the request. */
  readonly expiresAt?: Date;
  /** The amount to pay, if the provider adds a fee. Default: the amount of the request. */
  readonly total?: Money;
}

/**
 * A payment's state, in terms common to all providers: `pending`, `paid`, `expired`, `failed` (denied, canceled), `refunded` (in full; if
 * in part, it is `paid` and has `refunds`), `disputed` (charged back, or paid in fractions of a rupiah: an operator decides), `unknown`
 * (not found).
 */
export type PaymentState = 'pending' | 'paid' | 'expired' | 'failed' | 'refunded' | 'disputed' | 'unknown';

/** What a provider reports about one charge. */
export interface PaymentEvidence extends ChargeReference {
  readonly state: PaymentState;
  /**
   * The provider's id for this payment; two ids for one charge mean two payments. Omit it until the provider has assigned one: the first id
   * reported later is taken to be the same payment.
   */
  readonly paymentId?: string | undefined;
  /** The amount paid. Parse it from text without floating point. Undefined before payment. */
  readonly paid?: Money;
  /** Convert it from the provider's time zone: Midtrans, for example, sends times in GMT+7 without an offset. */
  readonly paidAt?: Date;
  /** The buyer's bank or wallet. */
  readonly issuer?: string;
  /**
   * All refunds of this payment, but not of the charge's other payments. Omit it if the provider does not list refunds; `refunded` then
   * means that the entire remaining amount has been returned.
   */
  readonly refunds?: readonly StatedRefund[];
  /** The provider's response, stored for operators. JSON, at most 64 KB, without secrets. */
  readonly raw: unknown;
}

/** A notification as it was received. */
export interface RawNotification {
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The unchanged bytes, at most 64 KB: some signatures cover exactly these. */
  readonly body: Buffer;
  readonly query: URLSearchParams;
}

/** An authentic notification. Core finds its charge by either reference; `reference` is empty if the notification has none. */
export interface PaymentNotification extends ChargeReference {
  /** Identifies the event: equal for repeated deliveries, different for other events of the same charge. */
  readonly eventKey: string;
  /** The `key` of the refund that it is about, if any: core then reads `refundStatus` in addition to `status`. */
  readonly refundKey?: string;
  /**
   * What the notification itself says, if its signature covers state, amount and both references (as with Tripay). Otherwise omit it: core
   * then reads the status first. (Midtrans does not sign the state; Xendit does not sign the body.)
   */
  readonly evidence?: PaymentEvidence;
}

/** A refund to request. */
export interface RefundRequest extends ChargeReference, Money {
  /** Unique for each refund; at most 40 letters, digits, `-` and `_`. */
  readonly key: string;
  readonly reason: string;
}

/** A refund as the provider lists it with its payment. */
export interface StatedRefund {
  /** The provider's id for the refund, unique within the account. */
  readonly id: string;
  /** Our key, if the gateway requested the refund. */
  readonly key?: string | undefined;
  readonly amount: number;
  readonly state: 'pending' | 'done' | 'failed';
  /** When it was refunded. */
  readonly at?: Date | undefined;
}

/** A refund's status. `unknown`: the provider does not have it, or not yet. */
export interface Refund {
  readonly state: 'pending' | 'done' | 'failed' | 'unknown';
  /** When it was refunded, if the provider says so. The books use this time. */
  readonly at?: Date | undefined;
  readonly raw: unknown;
}

/**
 * Why a call to a provider failed.
 *
 * - `rejected`: the provider rejected it; repeating the call does not help.
 * - `temporary`: it had no effect, and may be repeated (rate limit, or no connection).
 * - `unknown`: it may have had an effect (a timeout, a 5xx or a malformed response after the request was sent).
 */
export class PaymentError extends Error {
  override readonly name = 'PaymentError';
  readonly kind: 'rejected' | 'temporary' | 'unknown';
  /** Seconds to wait before the next call, if the provider states them. */
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
