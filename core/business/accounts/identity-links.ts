import type { Host } from '#core/gateway/host/host.ts';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import { epochs, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import type { LinkedIdentity } from './entities.ts';
import {
  adoptEmail,
  changeIdentity,
  cleanProfile,
  type IdentityKey,
  insertIdentity,
  lockIdentity,
  type SignInProfile,
} from './identities.ts';
import { lockAccount } from './ledger.ts';

export interface IdentityRecord extends Omit<SignInProfile, 'avatarUrl'> {
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

/** Lists the identities of an account, oldest first. */
export async function listIdentities(database: Queries, accountId: string): Promise<IdentityRecord[]> {
  const rows = await database.query<RowOf<IdentityRecord, typeof LinkedIdentity>>(
    `select provider, subject, email, name, ${epochs('created_at', 'last_used_at')}
     from identity where account_id = ? order by created_at, provider, subject`,
    [accountId],
  );
  return rows.map(toRecord);
}

/**
 * Adds an identity to an account. The caller must have verified that the account's signed-in owner asked for this.
 *
 * @returns `linked_elsewhere` if the identity belongs to another account, so that nothing changes; `linked` also if it was already linked
 *   to this account
 * @throws AccountError `not_found` if the account does not exist
 */
export async function linkIdentity(
  host: Pick<Host, 'database' | 'section'>,
  accountId: string,
  profile: SignInProfile,
): Promise<'linked' | 'linked_elsewhere'> {
  return changeIdentity(host, cleanProfile(profile), async (transaction, person, owner) => {
    if (owner !== undefined) return owner.accountId === accountId ? 'linked' : 'linked_elsewhere';
    await lockAccount(transaction, accountId);
    await insertIdentity(transaction, accountId, person);
    await adoptEmail(host, transaction, accountId, person.email);
    return 'linked';
  });
}

/**
 * Removes an identity from an account, but never the last one, because the owner could no longer sign in.
 *
 * @returns `not_linked` if the account does not have this identity
 * @throws AccountError `not_found` if the account does not exist
 */
export async function unlinkIdentity(
  database: Transactions,
  accountId: string,
  { provider, subject }: IdentityKey,
): Promise<'unlinked' | 'is_last' | 'not_linked'> {
  return database.fork().transactional(async (transaction) => {
    await lockIdentity(transaction, { provider, subject });
    await lockAccount(transaction, accountId);
    const identities = await transaction.execute<IdentityKey[]>(
      'select provider, subject from identity where account_id = ?',
      [accountId],
    );
    if (!identities.some((identity) => identity.provider === provider && identity.subject === subject))
      return 'not_linked';
    if (identities.length === 1) return 'is_last';
    await transaction.execute('delete from identity where account_id = ? and provider = ? and subject = ?', [
      accountId,
      provider,
      subject,
    ]);
    return 'unlinked';
  });
}
