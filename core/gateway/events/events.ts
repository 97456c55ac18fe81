/**
 * Events about accounts, orders and keys. Every instance receives them. Each is recorded once in `account_event`, in the transaction that
 * makes the change (`account-events.ts`). Plugins add their own types:
 *
 *     declare module 'daypass' {
 *       interface EventTypes { 'note.written': { readonly accountId: string } }
 *     }
 *
 * Payloads are JSON: ids, amounts and times as text, no secrets. Handlers read other data from the database.
 */
export interface EventTypes {
  /** An order has been paid in full. Its period is in the ledger. */
  'order.paid': OrderEvent;
  /** The payment that activated an order was refunded in full. The order's days have ended, unless the operator kept them. */
  'order.refunded': OrderEvent;
  /** An order was not paid in time. A late payment still activates it. */
  'order.expired': OrderEvent;
  /** An order needs the operator's attention because of a wrong amount or currency, a double payment, or a failed refund. */
  'order.flagged': OrderEvent & { readonly reason: string; readonly flagId: string };
  /** A payment for an order was received. It activated the order, or is flagged. */
  'payment.received': OrderEvent & PaymentEvent & { readonly paymentId: string; readonly outcome: string };
  /** A payment was refunded in full or in part, by the provider or manually. `refund` is the key of the refund. */
  'payment.refunded': OrderEvent & PaymentEvent & { readonly refund: string };
  /** A provider's records contain a payment or refund that matches no order of this gateway. */
  'payment.unknown': PaymentEvent & { readonly provider: string; readonly kind: 'payment' | 'refund' };
  /** Access has started for an account that had no active period. */
  'plan.started': PlanEvent;
  /** The last period ends within 24 hours. */
  'plan.ending': PlanEvent;
  /** The last period has ended. */
  'plan.ended': PlanEvent;
  /** The account has a new key. The old key is refused from now on. */
  'key.rotated': { readonly accountId: string; readonly keyId: string };
  /** The operator has blocked the account. Its requests are refused, and its sessions have ended. */
  'account.blocked': { readonly accountId: string };
  /** A reported payment has been unconfirmed for minutes. Sent at most once a day. */
  'payments.delayed': { readonly day: string; readonly since: string };
  /** A day has started in the service's time zone. The operator gets a report of the previous day. */
  'day.reported': { readonly day: string };
  /** The operator has published an announcement, which is emailed to this account. */
  'announcement.published': { readonly accountId: string; readonly announcementId: string };
  /** A place is reserved for an account on the waiting list. */
  'place.reserved': { readonly accountId: string; readonly entryId: string };
  /** The account was credited time for an outage, and is notified by email. */
  'outage.credited': { readonly accountId: string; readonly outageId: string };
  /** The account's email address has changed. The account stores the previous address. */
  'account.email_changed': { readonly accountId: string };
  /** Someone has signed in to the account. */
  'session.created': { readonly accountId: string; readonly sessionId: string };
}

/** The order and its owner. */
export interface OrderEvent {
  readonly orderId: string;
  readonly accountId: string;
}

interface PaymentEvent {
  readonly amount: number; // in the currency's smallest payable unit
  readonly currency: string;
}

/** The account and the end of its paid time. */
export interface PlanEvent {
  readonly accountId: string;
  readonly endsAt: string; // RFC 3339
}
