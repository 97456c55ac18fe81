/** Implementation of the commands, loaded on demand: MikroORM would slow all other commands down. */
import { findAccountByHandle } from '#core/business/accounts/account-list.ts';
import { listIdentities } from '#core/business/accounts/identity-links.ts';
import { listLedger } from '#core/business/accounts/ledger-entries.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import type { AccountDetails } from './describe.ts';
import type { Account } from '#core/business/accounts/entities.ts';
import type { Row } from '#core/platform/database/rows.ts';

export { exportAccount } from '#core/business/accounts/account-export.ts';

/** Newest first. */
const maxListedActions = 50;

/** @throws AccountError `not_found`, `ambiguous` */
export async function readDetails(host: Host, handle: string): Promise<AccountDetails> {
  const { database } = host;
  const record = await findAccountByHandle(host, handle);
  const [row] = await database.query<Row<typeof Account, 'language' | 'blocked_reason'>>(
    'select language, blocked_reason from account where id = ?',
    [record.id],
  );
  return {
    record,
    blockedReason: row?.blocked_reason ?? undefined,
    language: row?.language ?? undefined,
    identities: await listIdentities(database, record.id),
    sessions: await new Sessions(database).list(record.id),
    ledger: await listLedger(database, record.id),
    actions: await listActions(database, { subject: record.id, limit: maxListedActions }),
  };
}
