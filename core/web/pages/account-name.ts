import { type AccountRecord, readAccounts } from '#core/business/accounts/account-record.ts';
import { deletedName } from '#core/business/accounts/account-names.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { PageRequest } from './page.ts';

/** Returns the display name of an account for operators: its address, its name, or its id. */
export function nameOfAccount(
  { id, email, name }: Pick<AccountRecord, 'id' | 'email' | 'name'>,
  t: PageRequest['t'],
): string {
  if (email !== undefined) return email;
  return name === '' ? id : nameOfPerson(name, t);
}

/** Returns the name of an account; for a deleted one, in the reader's language. */
export function nameOfPerson(name: string, t: PageRequest['t']): string {
  return name === deletedName ? t('account.deleted') : name;
}

/**
 * Reads the display names by id.
 *
 * @param ids null for no account
 */
export async function readAccountNames(
  database: Pick<Database, 'query'>,
  ids: readonly (string | null)[],
  t: PageRequest['t'],
): Promise<ReadonlyMap<string, string>> {
  const uniqueIds = new Set(ids.filter((id) => id !== null));
  const accounts = await readAccounts(database, 'id', [...uniqueIds]);
  return new Map(accounts.map((account) => [account.id, nameOfAccount(account, t)]));
}
