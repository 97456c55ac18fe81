import type { EntityManager } from '@mikro-orm/postgresql';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Row } from '#core/platform/database/rows.ts';
import { AccountError } from './account-error.ts';
import { isEmailTaken } from './accounts.ts';
import type { LinkedIdentity } from './entities.ts';
import { lockIdentity, recordEmailChange } from './identities.ts';
import { lockAccount } from './ledger.ts';

type RecoveryHost = Pick<Host, 'database' | 'section'>;

const subjectListCondition = 'subject in (select jsonb_array_elements_text(?::jsonb))';

/**
 * Changes an account's email address and notifies the old one.
 *
 * @throws AccountError `operator_address`, because operator rights follow addresses; `email_taken`, `not_found`, `deleted`
 */
export async function changeEmail(host: RecoveryHost, accountId: string, email: string): Promise<void> {
  if (isOperatorAddress(host, email))
    throw new AccountError(
      'operator_address',
      `${email} is an operator's address, so no account can be changed to it.`,
    );
  try {
    await host.database.fork().transactional(async (transaction) => {
      requireNotDeleted(await lockAccount(transaction, accountId));
      const changedRows = await transaction.execute<unknown[]>(
        'update account set former_email = email, email = ? where id = ? and email is distinct from ? returning 1',
        [email, accountId, email],
      );
      if (changedRows.length > 0) await recordEmailChange(transaction, accountId);
    });
  } catch (error) {
    if (!isEmailTaken(error)) throw error;
    throw new AccountError('email_taken', `The e-mail address ${email} belongs to another account.`);
  }
}

/**
 * Removes an account's sign-ins with one provider and ends all its sessions, including one that a concurrent sign-in is creating. The last
 * sign-in may be removed; the account then belongs to the first verified owner of its address who signs in.
 *
 * @throws AccountError `not_found`
 */
export async function removeSignIn(host: RecoveryHost, accountId: string, provider: string): Promise<void> {
  await host.database.fork().transactional(async (transaction) => {
    const subjects = await readAndLockSignIns(transaction, accountId, provider);
    await lockAccount(transaction, accountId);
    const removedRows = await transaction.execute<unknown[]>(
      `delete from identity where account_id = ? and provider = ? and ${subjectListCondition} returning 1`,
      [accountId, provider, JSON.stringify(subjects)],
    );
    if (removedRows.length === 0) throw signInNotFound(provider);
    await transaction.execute('delete from session where account_id = ?', [accountId]);
  });
}

/**
 * Moves an account's sign-ins with one provider to another account, and ends the sessions of both.
 *
 * @throws AccountError `same_account`; `operator_address` if the other account is an operator's; `not_found`, `deleted`
 */
export async function moveSignIn(host: RecoveryHost, fromId: string, provider: string, toId: string): Promise<void> {
  await host.database.fork().transactional(async (transaction) => {
    const subjects = await readAndLockSignIns(transaction, fromId, provider);
    const { from, to } = await lockBoth(transaction, fromId, toId);
    if (from.id === to.id) throw new AccountError('same_account', 'The sign-in belongs to this account already.');
    requireNotDeleted(to);
    if (isOperatorAddress(host, to.email))
      throw new AccountError(
        'operator_address',
        "The other account is an operator's, so no sign-in can be moved to it.",
      );
    const movedRows = await transaction.execute<unknown[]>(
      `update identity set account_id = ? where account_id = ? and provider = ? and ${subjectListCondition} returning 1`,
      [toId, fromId, provider, JSON.stringify(subjects)],
    );
    if (movedRows.length === 0) throw signInNotFound(provider);
    await transaction.execute('delete from session where account_id in (?, ?)', [fromId, toId]);
  });
}

async function readAndLockSignIns(transaction: EntityManager, accountId: string, provider: string): Promise<string[]> {
  // An identity that is linked after this query is left alone.
  const rows = await transaction.execute<Row<typeof LinkedIdentity, 'subject'>[]>(
    'select subject from identity where account_id = ? and provider = ? order by subject',
    [accountId, provider],
  );
  for (const { subject } of rows) await lockIdentity(transaction, { provider, subject });
  return rows.map(({ subject }) => subject);
}

async function lockBoth(transaction: EntityManager, fromId: string, toId: string) {
  // A fixed order, so that opposite moves cannot deadlock. Operators may type ids in upper case.
  if (fromId.toLowerCase() <= toId.toLowerCase()) {
    const from = await lockAccount(transaction, fromId);
    return { from, to: await lockAccount(transaction, toId) };
  }
  const to = await lockAccount(transaction, toId);
  return { from: await lockAccount(transaction, fromId), to };
}

function signInNotFound(provider: string): AccountError {
  return new AccountError('not_found', `The account has no sign-in with ${provider}.`);
}

function requireNotDeleted({ deletedAt }: { readonly deletedAt: Date | undefined }): void {
  if (deletedAt !== undefined) throw new AccountError('deleted', 'The account is deleted.');
}
