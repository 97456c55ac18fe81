import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../database/database.ts';
import { Account, ApiKey } from '../database/entities.ts';
import type { RateLimits } from '../facts.ts';
import { AccountError } from './account-error.ts';
import { type AccountField, type AccountRecord, readAccounts, uuid } from './account-record.ts';
import { digestApiKey, generateApiKey, hintOfApiKey } from './api-key.ts';
import { addDays, lockAccount, type NewPeriod } from './ledger.ts';

export interface NewAccount {
  readonly name: string;
  readonly email?: string | undefined;
  readonly avatarUrl?: string | undefined;
  readonly limits?: RateLimits | undefined;
  /** Paid time that the account begins with. */
  readonly period?: NewPeriod | undefined;
  /** Its key; a new one is made when left out. */
  readonly key?: string | undefined;
}

/** A key that has just been made. Shown once: nothing here keeps it. */
export interface IssuedKey {
  readonly accountId: string;
  readonly key: string;
  readonly hint: string;
}

/** Creates an account with its key, in a transaction of its own. @throws AccountError `too_many_days` */
export async function createAccount(
  database: Pick<Database, 'fork'>,
  prefix: string,
  account: NewAccount,
): Promise<IssuedKey> {
  return database.fork().transactional((transaction) => insertAccount(transaction, prefix, account));
}

/** Creates an account with its key as part of the caller's transaction. @throws AccountError `too_many_days` */
export async function insertAccount(
  transaction: EntityManager,
  prefix: string,
  { name, email, avatarUrl, limits, period, key = generateApiKey(prefix) }: NewAccount,
): Promise<IssuedKey> {
  const accountId = randomUUIDv7();
  const hint = hintOfApiKey(key, prefix);
  transaction.create(Account, { id: accountId, name, email: email ?? null, avatarUrl: avatarUrl ?? null });
  transaction.create(ApiKey, {
    id: randomUUIDv7(),
    account: accountId,
    sha256: Buffer.from(digestApiKey(key), 'hex'),
    hint,
    limits: limits ?? null,
  });
  await transaction.flush();
  if (period !== undefined) await addDays(transaction, accountId, period);
  return { accountId, key, hint };
}

/** Replaces the key of an account. The old one is refused within a second, on every instance. @throws AccountError `not_found` */
export async function rotateKey(
  database: Pick<Database, 'fork'>,
  prefix: string,
  accountId: string,
): Promise<IssuedKey> {
  const key = generateApiKey(prefix);
  const hint = hintOfApiKey(key, prefix);
  await database.fork().transactional(async (transaction) => {
    const current = await lockKey(transaction, accountId);
    await transaction.execute(
      `update api_key set sha256 = decode(?, 'hex'), hint = ?, rotated_at = clock_timestamp() where id = ?`,
      [digestApiKey(key), hint, current.id],
    );
  });
  return { accountId, key, hint };
}

/**
 * Changes the limits that the key has instead of the configured ones; those not named stay as they are.
 *
 * @param change null takes all of them back
 * @returns the limits that the key has now
 * @throws AccountError `not_found`
 */
export async function changeLimits(
  database: Pick<Database, 'fork'>,
  accountId: string,
  change: RateLimits | null,
): Promise<RateLimits | null> {
  return database.fork().transactional(async (transaction) => {
    const key = await lockKey(transaction, accountId);
    key.limits = change === null ? null : { ...key.limits, ...change };
    return key.limits;
  });
}

async function lockKey(transaction: EntityManager, accountId: string): Promise<ApiKey> {
  await lockAccount(transaction, accountId);
  const key = await transaction.findOne(ApiKey, { account: accountId });
  if (key === null) throw new AccountError('not_found', `the account ${accountId} has no key`);
  return key;
}

/**
 * The account that a person means: by its id, its e-mail address (in any case), its key's hint (`...` does for `…`), or
 * the key itself.
 *
 * @throws AccountError `not_found`, `ambiguous`
 */
export async function findAccount(database: Pick<Database, 'query'>, handle: string): Promise<AccountRecord> {
  const [field, value] = readHandle(handle);
  const [found, ...more] = await readAccounts(database, field, [value]);
  if (found === undefined) throw new AccountError('not_found', `there is no account with ${describe(field, value)}`);
  if (more.length === 0) return found;
  const ids = [found, ...more].map(({ id }) => id).join(', ');
  throw new AccountError('ambiguous', `several accounts have ${describe(field, value)}; name one by its id: ${ids}`);
}

function readHandle(handle: string): [AccountField, string] {
  if (uuid.test(handle)) return ['id', handle];
  if (handle.includes('@')) return ['email', handle];
  if (/…|\.{3}/.test(handle)) return ['hint', handle.replace('...', '…')];
  return ['digest', digestApiKey(handle)];
}

/** Never repeats a key. */
function describe(field: AccountField, value: string): string {
  if (field === 'digest') return 'that key (an id, an e-mail address or a hint like dp_AbCd…wxyz would do too)';
  return { id: 'the id', email: 'the e-mail address', hint: 'the key' }[field] + ` ${value}`;
}
