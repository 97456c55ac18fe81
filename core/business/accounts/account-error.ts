/** Thrown if an operation on an account fails. The message is written for people. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
  readonly kind:
    | 'not_found'
    | 'ambiguous'
    | 'too_many_days'
    | 'email_taken'
    | 'same_account'
    | 'operator_address'
    | 'operator_account'
    | 'not_confirmed'
    | 'order_open'
    | 'span'
    | 'credited'
    | 'no_mail'
    | 'blocked'
    | 'paused'
    | 'not_paused'
    | 'too_many'
    | 'deleted';

  constructor(kind: AccountError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
