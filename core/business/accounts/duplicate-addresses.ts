import type { Queries } from '#core/platform/database/database.ts';
import type { Logger } from '#core/platform/logger.ts';

/** An email address that several accounts share, ignoring ASCII case. Under a Turkish collation, the index on `lower(email)` allows it. */
export interface DuplicateAddress {
  readonly ids: readonly string[]; // account ids, oldest first
}

const maxDuplicates = 10;

/** SQL condition: the unique index is missing, because accounts shared an address when it should have been created. */
export const indexMissingCondition = `to_regclass('account_email_ascii') IS NULL`;

/** SQL query for duplicates. Skips the table scan if the unique index exists. */
export const duplicatesQuery = `
  SELECT json_agg(id ORDER BY created_at, id) AS ids FROM account
  WHERE ${indexMissingCondition} AND email IS NOT NULL
  GROUP BY lower(email COLLATE "C") HAVING count(*) > 1 ORDER BY min(created_at) LIMIT ${maxDuplicates}`;

export function findDuplicateAddresses(database: Queries): Promise<DuplicateAddress[]> {
  return database.query<DuplicateAddress>(duplicatesQuery);
}

/** Creates the index that keeps addresses unique. If accounts share an address, logs those accounts instead. */
export async function ensureUniqueAddresses(database: Queries, log: Logger): Promise<void> {
  const duplicates = await findDuplicateAddresses(database);
  for (const { ids } of duplicates)
    log.warn(
      `accounts ${ids.join(' and ')} have email addresses that differ only in case: change or delete all but one`,
    );
  if (duplicates.length > 0) return;
  // Not CREATE INDEX IF NOT EXISTS alone: it would lock the table even if the index exists.
  if (!(await isIndexMissing(database))) return;
  try {
    await database.query('CREATE UNIQUE INDEX IF NOT EXISTS account_email_ascii ON account (lower(email COLLATE "C"))');
  } catch (error) {
    // IF NOT EXISTS does not see an index that another instance is creating right now; the slower instance gets a unique violation.
    if (await isIndexMissing(database)) throw error;
  }
}

async function isIndexMissing(database: Queries): Promise<boolean> {
  const [row] = await database.query<{ is_missing: boolean }>(`SELECT ${indexMissingCondition} AS is_missing`);
  return row?.is_missing === true;
}
