import { readAccounts } from '#core/business/accounts/account-record.ts';
import { type LedgerEntry, listLedger } from '#core/business/accounts/ledger-entries.ts';
import { listActions, type RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import {
  type AttemptTrail,
  listAttempts,
  listNotifications,
  type NotificationTrail,
} from '#core/business/payments/order-trail.ts';
import type { Order } from '#core/business/payments/order-types.ts';
import type { Database } from '#core/platform/database/database.ts';

/** Actions of operators that are read, the newest. */
const listedActions = 50;

/** All that operators see of one order. */
export interface OrderDetails {
  readonly order: Order;
  /** The buyer. */
  readonly owner: { readonly name: string; readonly email: string | undefined } | undefined;
  readonly attempts: readonly AttemptTrail[];
  readonly notifications: readonly NotificationTrail[];
  /** Of the account that has its days. */
  readonly ledger: readonly LedgerEntry[];
  readonly actions: readonly RecordedAction[];
}

export async function readOrderDetails(database: Pick<Database, 'query'>, order: Order): Promise<OrderDetails> {
  const { id, accountId, gift } = order;
  const [[account], attempts, notifications, ledger, actions] = await Promise.all([
    readAccounts(database, 'id', [accountId]),
    listAttempts(database, id),
    listNotifications(database, id),
    listLedger(database, gift?.redeemedBy ?? accountId, id),
    listActions(database, { subject: id, limit: listedActions }),
  ]);
  const owner = account && { name: account.name, email: account.email };
  return { order, owner, attempts, notifications, ledger, actions };
}
