import type { Database } from '#core/platform/database/database.ts';
import type { Logger } from '#core/platform/logger.ts';

/** Accounts whose addresses differ only in the case of ASCII letters, which a Turkish collation allowed. */
export interface DoubledAddress {
  /** Ids of the accounts, oldest first. */
  readonly ids: readonly string[];
}

const maxListed = 10;

/** SQL condition: the unique index is missing, which happens only if there were duplicates. */
export const mayBeDoubled = `to_regclass('account_email_ascii') IS NULL`;

/** Reads no accounts if there can be no duplicates. */
export const doubledAddresses = `
  SELECT json_agg(id ORDER BY created_at, id) AS ids FROM account
  WHERE ${mayBeDoubled} AND email IS NOT NULL
  GROUP BY lower(email COLLATE "C") HAVING count(*) > 1 ORDER BY min(created_at) LIMIT ${maxListed}`;

export function findDoubledAddresses(database: Pick<Database, 'query'>): Promise<DoubledAddress[]> {
  return database.query<DoubledAddress>(doubledAddresses);
}

/** Creates the index that keeps addresses unique, or logs the accounts that share an address. */
export async function ruleOutDoubledAddresses(database: Pick<Database, 'query'>, log: Logger): Promise<void> {
  const doubled = await findDoubledAddresses(database);
  for (const { ids } of doubled)
    log.warn(
      `accounts ${ids.join(' and ')} have the same e-mail address but for its case: change the address of one, or delete it`,
    );
  if (doubled.length > 0) return;
  // Checked first, because the statement locks the table even if there is nothing to create.
  const [index] = await database.query<{ exists: boolean }>(
    `SELECT to_regclass('account_email_ascii') IS NOT NULL AS exists`,
  );
  if (index?.exists === true) return;
  await database.query('CREATE UNIQUE INDEX IF NOT EXISTS account_email_ascii ON account (lower(email COLLATE "C"))');
}
