/** Thrown if an order or payment is refused. The message is for people. */
export class CheckoutError extends Error {
  override readonly name = 'CheckoutError';
  readonly kind: CheckoutFailure;
  readonly retryAt: Date | undefined; // when to try again, if waiting helps

  constructor(kind: CheckoutFailure, message: string, retryAt?: Date) {
    super(message);
    this.kind = kind;
    this.retryAt = retryAt;
  }
}

type CheckoutFailure =
  | 'no_provider' // this gateway sells nothing
  | 'unknown_plan' // no plan has this number of days
  | 'no_gifts' // passes are not sold as gifts (`payments.gifts` in gateway.yaml)
  | 'too_many_days' // the account would hold more than a year, including its open orders
  | 'too_many_orders'
  | 'too_many_charges' // within an hour, the account created too many charges without paying, or its network created too many charges
  | 'sold_out' // the plan has no free place (`sales` in gateway.yaml)
  | 'blocked' // the account is blocked or deleted
  | 'not_found'
  | 'plan_changed' // the order was placed at another price or with another provider; a new order is needed
  | 'not_open' // the state of the order or refund does not allow this
  | 'nothing_to_refund'
  | 'several_payments' // the order has several refundable payments, and none was named
  | 'too_much' // the amount exceeds the refundable remainder of the payment
  | 'no_days' // the payment gave no days that could be taken back
  | 'no_answer' // the provider did not respond
  | 'not_refunded' // the provider rejected the refund
  | 'refund_unclear' // the provider might refund another payment of the same charge
  | 'refund_open'; // another refund of the payment is in progress, so the money would be paid back twice
