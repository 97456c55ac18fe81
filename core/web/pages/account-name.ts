import { deletedName } from '#core/business/accounts/account-names.ts';
import { type AccountRecord, readAccounts } from '#core/business/accounts/account-record.ts';
import type { Queries } from '#core/platform/database/database.ts';
import type { PageRequest } from './page.ts';

/** Formats an account for operators: its email address, or else its name, or else its id. */
export function formatAccountLabel(
  { id, email, name }: Pick<AccountRecord, 'id' | 'email' | 'name'>,
  t: PageRequest['t'],
): string {
  if (email !== undefined) return email;
  return name === '' ? id : formatAccountName(name, t);
}

/** Returns an account's name, or "deleted" in the reader's language. */
export function formatAccountName(name: string, t: PageRequest['t']): string {
  return name === deletedName ? t('account.deleted') : name;
}

/** Reads account labels by id. Nulls are ignored, and unknown accounts are missing from the result. */
export async function readAccountNames(
  database: Queries,
  ids: readonly (string | null)[],
  t: PageRequest['t'],
): Promise<ReadonlyMap<string, string>> {
  const uniqueIds = new Set(ids.filter((id) => id !== null));
  const accounts = await readAccounts(database, 'id', [...uniqueIds]);
  return new Map(accounts.map((account) => [account.id, formatAccountLabel(account, t)]));
}
