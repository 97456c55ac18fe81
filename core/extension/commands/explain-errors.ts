import { AccountError } from '#core/business/accounts/account-error.ts';
import { ActionRefused } from '#core/business/operator-actions/action-kind.ts';
import { InvalidQuery } from '#core/business/operator-actions/query.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { CommandFailed } from './command.ts';

const exitCodes: Readonly<Record<string, number>> = { not_found: 3, invalid: 2, span: 2 };

/** Returns the exit code section of a help text, for objects such as `order or account`. */
export const exitCodesFor = (objects: string) =>
  `\n\nExit codes: 0 success, 1 failure, 2 invalid usage, 3 ${objects} not found.`;

/** Converts errors about accounts, orders, payments and actions to a `CommandFailed` with a matching exit code. */
export async function explainErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PaymentError) throw new CommandFailed(error.message);
    if (error instanceof InvalidQuery) throw new CommandFailed(error.message, 2);
    if (error instanceof AccountError || error instanceof CheckoutError || error instanceof ActionRefused)
      throw new CommandFailed(error.message, exitCodes[error.kind] ?? 1);
    throw error;
  }
}
