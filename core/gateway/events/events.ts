/**
 * Events of accounts, orders and keys, which every instance receives. Each is recorded once in `account_event`, in the
 * transaction of the change that it reports (`account-events.ts`). Plugins add their own types:
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
  /** The payment that activated an order was paid back in full. Its days have ended, unless the operator left them. */
  'order.refunded': OrderEvent;
  /** An order was not paid in time. A payment that still arrives activates it. */
  'order.expired': OrderEvent;
  /** An order needs the operator: wrong amount or currency, paid twice, a failed refund. */
  'order.flagged': OrderEvent & { readonly reason: string; readonly flagId: string };
  /** A payment for an order was received: it activated the order, or is flagged. */
  'payment.received': OrderEvent & PaymentEvent & { readonly paymentId: string; readonly outcome: string };
  /** A payment was refunded, in whole or in part, by the provider or manually by the operator. `refund`: key of the refund. */
  'payment.refunded': OrderEvent & PaymentEvent & { readonly refund: string };
  /** A provider's books contain a payment or refund that belongs to no order of this gateway. */
  'payment.unknown': PaymentEvent & { readonly provider: string; readonly kind: 'payment' | 'refund' };
  /** Access has begun after a time without a period. */
  'plan.started': PlanEvent;
  /** The last period ends within 24 hours. */
  'plan.ending': PlanEvent;
  /** The last period is over. */
  'plan.ended': PlanEvent;
  /** The account has a new key; the old key is refused from now on. */
  'key.rotated': { readonly accountId: string; readonly keyId: string };
  /** The operator has blocked the account: its requests are refused, and its sessions have ended. */
  'account.blocked': { readonly accountId: string };
  /** A reported payment could not be confirmed for minutes. Sent at most once a day. */
  'payments.delayed': { readonly day: string; readonly since: string };
  /** A day has begun in the service's time zone: the operator gets a report of the previous day. */
  'day.reported': { readonly day: string };
  /** The operator has published an announcement, which is mailed to this account. */
  'announcement.published': { readonly accountId: string; readonly announcementId: string };
  /** A place is reserved for an account on the waiting list. */
  'place.reserved': { readonly accountId: string; readonly entryId: string };
  /** The account was credited time for an outage, and gets a mail about it. */
  'outage.credited': { readonly accountId: string; readonly outageId: string };
  /** The account's e-mail address has changed; the account keeps the previous one. */
  'account.email_changed': { readonly accountId: string };
  /** Someone has signed in to the account. */
  'session.created': { readonly accountId: string; readonly sessionId: string };
}

/** Names the order and its owner. */
export interface OrderEvent {
  readonly orderId: string;
  readonly accountId: string;
}

interface PaymentEvent {
  readonly amount: number; // in the smallest payable unit of the currency
  readonly currency: string;
}

/** The account and the end of its paid time. */
export interface PlanEvent {
  readonly accountId: string;
  readonly endsAt: string; // RFC 3339
}
