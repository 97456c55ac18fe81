import { type AccountRecord, readAccounts } from '#core/business/accounts/account-record.ts';
import { deletedName } from '#core/business/accounts/shown-names.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { PageRequest } from './page.ts';

/** Display name of an account for operators: its address, its name, or its id. */
export function nameOfAccount(
  { id, email, name }: Pick<AccountRecord, 'id' | 'email' | 'name'>,
  t: PageRequest['t'],
): string {
  if (email !== undefined) return email;
  return name === '' ? id : nameOfPerson(name, t);
}

/** The name of an account; of a deleted one in the language of the reader. */
export function nameOfPerson(name: string, t: PageRequest['t']): string {
  return name === deletedName ? t('account.deleted') : name;
}

/** Names by id. @param ids null for none */
export async function readAccountNames(
  database: Pick<Database, 'query'>,
  ids: readonly (string | null)[],
  t: PageRequest['t'],
): Promise<ReadonlyMap<string, string>> {
  const known = new Set(ids.filter((id) => id !== null));
  const accounts = await readAccounts(database, 'id', [...known]);
  return new Map(accounts.map((account) => [account.id, nameOfAccount(account, t)]));
}
