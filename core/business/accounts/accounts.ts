import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { RateLimits } from '#core/gateway/facts.ts';
import { type Queries, type Transactions, uuid } from '#core/platform/database/database.ts';
import { AccountError } from './account-error.ts';
import type { IssuedKey } from './account-key.ts';
import { type AccountField, type AccountRecord, readAccounts } from './account-record.ts';
import { digestApiKey, generateApiKey, maskApiKey } from './api-key.ts';
import { addDays, type NewPeriod } from './ledger.ts';

interface NewAccount {
  readonly name: string;
  readonly email?: string | undefined;
  readonly avatarUrl?: string | undefined;
  readonly limits?: RateLimits | undefined;
  readonly period?: NewPeriod | undefined;
  readonly key?: string | undefined; // default: a new key
  readonly isKeyShown?: boolean; // if false, `issueFirstKey` later issues the key that the owner sees
}

/** @throws AccountError `too_many_days`, `email_taken` */
export async function createAccount(database: Transactions, prefix: string, account: NewAccount): Promise<IssuedKey> {
  return database.fork().transactional((transaction) => insertAccount(transaction, prefix, account));
}

/** @throws AccountError `too_many_days`, `email_taken` */
export async function insertAccount(
  transaction: EntityManager,
  prefix: string,
  { name, email, avatarUrl, limits, period, key = generateApiKey(prefix), isKeyShown = true }: NewAccount,
): Promise<IssuedKey> {
  const accountId = randomUUIDv7();
  const hint = maskApiKey(key, prefix);
  try {
    await transaction.execute('insert into account (id, name, email, avatar_url) values (?, ?, ?, ?)', [
      accountId,
      name,
      email ?? null,
      avatarUrl ?? null,
    ]);
  } catch (error) {
    if (!isEmailTaken(error)) throw error;
    throw new AccountError('email_taken', `The e-mail address ${email} belongs to another account.`);
  }
  await transaction.execute(
    `insert into api_key (id, account_id, sha256, hint, limits, shown_at)
     values (?, ?, decode(?, 'hex'), ?, ?::jsonb, case when ? then now() end)`,
    [
      randomUUIDv7(),
      accountId,
      digestApiKey(key),
      hint,
      limits === undefined ? null : JSON.stringify(limits),
      isKeyShown,
    ],
  );
  if (period !== undefined) await addDays(transaction, accountId, period);
  return { accountId, key, hint };
}

/** Returns true if the database rejected an email address because another account has it. The transaction cannot continue. */
export function isEmailTaken(error: unknown): boolean {
  const indexes: unknown[] = ['account_email', 'account_email_ascii'];
  return error instanceof Error && 'constraint' in error && indexes.includes(error.constraint);
}

/**
 * Finds an account by its id, email address (in any case), key, or key hint (with `...` or `…`).
 *
 * @throws AccountError `not_found`, `ambiguous`
 */
export async function findAccount(database: Queries, handle: string): Promise<AccountRecord> {
  const [field, value] = readHandle(handle);
  const [account, ...otherAccounts] = await readAccounts(database, field, [value]);
  if (account === undefined) throw new AccountError('not_found', `No account has ${describeHandle(field, value)}.`);
  if (otherAccounts.length === 0) return account;
  const ids = [account, ...otherAccounts].map(({ id }) => id).join(', ');
  throw new AccountError(
    'ambiguous',
    `Several accounts have ${describeHandle(field, value)}. Pass one of these ids: ${ids}`,
  );
}

function readHandle(handle: string): [AccountField, string] {
  if (uuid.test(handle)) return ['id', handle];
  if (handle.includes('@')) return ['email', handle];
  if (/…|\.{3}/.test(handle)) return ['hint', handle.replace('...', '…')];
  return ['digest', digestApiKey(handle)];
}

function describeHandle(field: AccountField, value: string): string {
  if (field === 'digest') return 'this key. Pass an id, an e-mail address, a key or its hint, such as dp-AbCd…wxyz';
  return { id: 'the id', email: 'the e-mail address', hint: 'the key hint' }[field] + ` ${value}`;
}
