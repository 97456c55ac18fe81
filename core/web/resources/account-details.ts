import type { Account } from '#core/business/accounts/entities.ts';
import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { type IdentityRecord, listIdentities } from '#core/business/accounts/identity-links.ts';
import { type LedgerEntry, listLedger } from '#core/business/accounts/ledger-entries.ts';
import { listActions, type RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { SessionRecord } from '../sessions/sessions.ts';
import { sessionsOf } from '../sessions/sign-in.ts';

/** Actions of operators that are read, the newest. */
const listedActions = 50;

/** All that operators see of one account. */
export interface AccountDetails {
  readonly record: AccountRecord;
  readonly blockedReason: string | undefined;
  readonly language: string | undefined;
  readonly identities: readonly IdentityRecord[];
  readonly sessions: readonly SessionRecord[];
  readonly ledger: readonly LedgerEntry[];
  /** Of operators, notes included, the newest first. */
  readonly actions: readonly RecordedAction[];
}

export async function readAccountDetails(host: Host, record: AccountRecord): Promise<AccountDetails> {
  const { database } = host;
  const { id } = record;
  const [[row], identities, sessions, ledger, actions] = await Promise.all([
    database.query<Row<typeof Account, 'language' | 'blocked_reason'>>(
      'select language, blocked_reason from account where id = ?',
      [id],
    ),
    listIdentities(database, id),
    sessionsOf(host).list(id),
    listLedger(database, id),
    listActions(database, { subject: id, limit: listedActions }),
  ]);
  const { blocked_reason: blockedReason, language } = row ?? {};
  return {
    record,
    blockedReason: blockedReason ?? undefined,
    language: language ?? undefined,
    identities,
    sessions,
    ledger,
    actions,
  };
}
