import type { EntityManager } from '@mikro-orm/postgresql';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { AccountError } from './account-error.ts';
import { isEmailTaken } from './accounts.ts';
import { lockIdentity, recordEmailChange } from './identities.ts';
import { lockAccount } from './ledger.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { LinkedIdentity } from './entities.ts';

type RecoveryHost = Pick<Host, 'database' | 'section'>;

/**
 * Gives an account another e-mail address. The former one gets a mail.
 *
 * @throws AccountError `operator_address`: operator rights follow addresses; `email_taken`, `not_found`, `deleted`
 */
export async function changeEmail(host: RecoveryHost, accountId: string, email: string): Promise<void> {
  if (isOperatorAddress(host, email))
    throw new AccountError('operator_address', `${email} is an operator's address. No account can be given it.`);
  try {
    await host.database.fork().transactional(async (transaction) => {
      requireNotDeleted(await lockAccount(transaction, accountId));
      const changed = await transaction.execute<unknown[]>(
        'update account set former_email = email, email = ? where id = ? and email is distinct from ? returning 1',
        [email, accountId, email],
      );
      if (changed.length > 0) await recordEmailChange(transaction, accountId);
    });
  } catch (error) {
    if (!isEmailTaken(error)) throw error;
    throw new AccountError('email_taken', `The e-mail address ${email} belongs to another account.`);
  }
}

/**
 * Removes the sign-ins of one provider from an account and ends its sessions, also that of a sign-in under way. The last one, too: the
 * account then belongs to the first verified owner of its address who signs in.
 *
 * @throws AccountError `not_found`
 */
export async function removeSignIn(host: RecoveryHost, accountId: string, provider: string): Promise<void> {
  await host.database.fork().transactional(async (transaction) => {
    const subjects = await lockSignIns(transaction, accountId, provider);
    await lockAccount(transaction, accountId);
    const removed = await transaction.execute<unknown[]>(
      `delete from identity where account_id = ? and provider = ? and ${isAmong} returning 1`,
      [accountId, provider, JSON.stringify(subjects)],
    );
    if (removed.length === 0) throw noSignIn(provider);
    await transaction.execute('delete from session where account_id = ?', [accountId]);
  });
}

/**
 * Moves the sign-ins of one provider to another account. Sessions of both end.
 *
 * @throws AccountError `same_account`, `operator_address` when the other account is an operator's, `not_found`, `deleted`
 */
export async function moveSignIn(host: RecoveryHost, fromId: string, provider: string, toId: string): Promise<void> {
  await host.database.fork().transactional(async (transaction) => {
    const subjects = await lockSignIns(transaction, fromId, provider);
    const { from, to } = await lockBoth(transaction, fromId, toId);
    if (from.id === to.id) throw new AccountError('same_account', 'The sign-in belongs to this account already.');
    requireNotDeleted(to);
    if (isOperatorAddress(host, to.email))
      throw new AccountError('operator_address', 'The other account is an operator. No sign-in can be moved to it.');
    const moved = await transaction.execute<unknown[]>(
      `update identity set account_id = ? where account_id = ? and provider = ? and ${isAmong} returning 1`,
      [toId, fromId, provider, JSON.stringify(subjects)],
    );
    if (moved.length === 0) throw noSignIn(provider);
    await transaction.execute('delete from session where account_id in (?, ?)', [fromId, toId]);
  });
}

const isAmong = 'subject in (select jsonb_array_elements_text(?::jsonb))';

/**
 * Locks the identities of one provider, as `lockIdentity` says. One that is linked before the account is locked stays: it is as if it
 * had been linked later.
 */
async function lockSignIns(transaction: EntityManager, accountId: string, provider: string): Promise<string[]> {
  const found = await transaction.execute<Row<typeof LinkedIdentity, 'subject'>[]>(
    'select subject from identity where account_id = ? and provider = ? order by subject',
    [accountId, provider],
  );
  for (const { subject } of found) await lockIdentity(transaction, { provider, subject });
  return found.map(({ subject }) => subject);
}

/** In one order, so that two moves in opposite directions do not wait for each other. Ids may be spelled in either case. */
async function lockBoth(transaction: EntityManager, fromId: string, toId: string) {
  if (fromId.toLowerCase() <= toId.toLowerCase()) {
    const from = await lockAccount(transaction, fromId);
    return { from, to: await lockAccount(transaction, toId) };
  }
  const to = await lockAccount(transaction, toId);
  return { from: await lockAccount(transaction, fromId), to };
}

function noSignIn(provider: string): AccountError {
  return new AccountError('not_found', `The account has no sign-in with ${provider}.`);
}

function requireNotDeleted({ deletedAt }: { readonly deletedAt: Date | undefined }): void {
  if (deletedAt !== undefined) throw new AccountError('deleted', 'The account is deleted.');
}
