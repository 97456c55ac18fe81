import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { RateLimits } from '#core/gateway/facts.ts';
import type { Transactions } from '#core/platform/database/database.ts';
import type { Row } from '#core/platform/database/rows.ts';
import { AccountError } from './account-error.ts';
import { recordEvent } from './account-events.ts';
import { digestApiKey, generateApiKey, maskApiKey } from './api-key.ts';
import type * as entities from './entities.ts';
import { lockAccount } from './ledger.ts';

/** A new key. It is shown once, because only its digest is stored. */
export interface IssuedKey {
  readonly accountId: string;
  readonly key: string;
  readonly hint: string;
}

/**
 * Replaces an account's key. Every instance rejects the old one within a second; its digest is kept only to explain the rejection.
 *
 * @throws AccountError `not_found`
 */
export async function rotateKey(database: Transactions, prefix: string, accountId: string): Promise<IssuedKey> {
  const key = generateApiKey(prefix);
  const hint = maskApiKey(key, prefix);
  await database.fork().transactional(async (transaction) => {
    const currentKey = await lockAccountAndReadKey(transaction, accountId);
    await transaction.execute(
      `update api_key set former_sha256 = sha256, sha256 = decode(?, 'hex'), hint = ?, rotated_at = clock_timestamp(), shown_at = clock_timestamp()
       where id = ?`,
      [digestApiKey(key), hint, currentKey.id],
    );
    const payload = { accountId, keyId: currentKey.id };
    const dedupeKey = `key.rotated:${randomUUIDv7()}`; // every rotation is a separate event
    await recordEvent(transaction, 'key.rotated', payload, dedupeKey);
  });
  return { accountId, key, hint };
}

/**
 * Issues the key to show to the owner, replacing one that was never shown. Only digests are stored, so this works only once. If the
 * response is lost, the owner has to rotate the key. Records no event, because nobody has seen the replaced key.
 *
 * @returns undefined if the key was already shown
 * @throws AccountError `not_found`
 */
export async function issueFirstKey(
  database: Transactions,
  prefix: string,
  accountId: string,
): Promise<IssuedKey | undefined> {
  const key = generateApiKey(prefix);
  const hint = maskApiKey(key, prefix);
  return database.fork().transactional(async (transaction) => {
    const currentKey = await lockAccountAndReadKey(transaction, accountId);
    if (currentKey.is_shown) return undefined;
    await transaction.execute(
      `update api_key set sha256 = decode(?, 'hex'), hint = ?, shown_at = clock_timestamp() where id = ?`,
      [digestApiKey(key), hint, currentKey.id],
    );
    return { accountId, key, hint };
  });
}

/**
 * Changes the limits that override the configured ones for this key. Limits that `change` omits stay as they are.
 *
 * @param change limits to change; null removes all of the key's limits
 * @returns the key's limits after the change
 * @throws AccountError `not_found`
 */
export async function changeLimits(
  database: Transactions,
  accountId: string,
  change: RateLimits | null,
): Promise<RateLimits | null> {
  return database.fork().transactional(async (transaction) => {
    const { id, limits: current } = await lockAccountAndReadKey(transaction, accountId);
    const limits: RateLimits | null =
      change === null ? null : { ...(JSON.parse(current ?? '{}') as RateLimits), ...change };
    await transaction.execute('update api_key set limits = ?::jsonb where id = ?', [
      limits === null ? null : JSON.stringify(limits),
      id,
    ]);
    return limits;
  });
}

interface KeyRow extends Row<typeof entities.ApiKey, 'id'> {
  readonly is_shown: boolean;
  readonly limits: string | null; // JSON
}

async function lockAccountAndReadKey(transaction: EntityManager, accountId: string): Promise<KeyRow> {
  await lockAccount(transaction, accountId);
  const [key] = await transaction.execute<KeyRow[]>(
    'select id, shown_at is not null as is_shown, limits::text as limits from api_key where account_id = ?',
    [accountId],
  );
  if (key === undefined) throw new AccountError('not_found', `account ${accountId} has no key`);
  return key;
}
