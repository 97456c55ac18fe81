/** Reason for a rejected order or payment. The message is for people. */
export class CheckoutError extends Error {
  override readonly name = 'CheckoutError';
  readonly kind: CheckoutFailure;
  /** Time of the next try, if waiting helps. */
  readonly next: Date | undefined;

  constructor(kind: CheckoutFailure, message: string, next?: Date) {
    super(message);
    this.kind = kind;
    this.next = next;
  }
}

/**
 * - `no_provider`: this gateway sells nothing.
 * - `unknown_plan`: no plan has so many days.
 * - `no_gifts`: passes are not sold as gifts (`payments.gifts` in gateway.yaml).
 * - `too_many_days`: the account would hold more than a year, open orders included.
 * - `too_many_orders`: too many orders of the account are open.
 * - `too_many_charges`: the account or its network has made too many charges within an hour without paying.
 * - `sold_out`: no place is free for the plan (`sales` in gateway.yaml).
 * - `blocked`: the account is blocked or deleted.
 * - `not_found`: there is no such order.
 * - `plan_changed`: the order was made for another price or provider, and a new one is needed.
 * - `not_open`: the state of the order, or of a refund, does not allow it.
 * - `nothing_to_refund`: no payment has anything left.
 * - `several_payments`: the one to refund must be named.
 * - `too_much`: more than is left of the payment.
 * - `no_days`: the payment gave no days that could go back.
 * - `no_answer`: the provider could not be asked.
 * - `not_refunded`: the provider has refused the refund.
 * - `refund_unclear`: the provider could return another payment of the charge.
 * - `refund_open`: another refund of the payment is under way, and the money would be paid twice.
 */
type CheckoutFailure =
  | 'no_provider'
  | 'unknown_plan'
  | 'no_gifts'
  | 'too_many_days'
  | 'too_many_orders'
  | 'too_many_charges'
  | 'sold_out'
  | 'blocked'
  | 'not_found'
  | 'plan_changed'
  | 'not_open'
  | 'nothing_to_refund'
  | 'several_payments'
  | 'too_much'
  | 'no_days'
  | 'no_answer'
  | 'not_refunded'
  | 'refund_unclear'
  | 'refund_open';
