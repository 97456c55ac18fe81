import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { digestApiKey } from '#core/business/accounts/api-key.ts';
import type { AccountDirectory } from '#core/business/accounts/directory.ts';

type Found = AccountRecord | undefined;

/**
 * The account of the first valid key; undefined when none is valid. Keys that are not cached are looked up together, in one
 * query.
 *
 * @param maxAge seconds for which a cached key is fresh
 * @param isSuspect whether the caller has sent many unknown keys
 * @throws GatewayError `unavailable` when the database does not respond and none of the cached keys is valid
 */
export function identify(
  directory: Pick<AccountDirectory, 'findByDigest'>,
  keys: readonly string[],
  maxAge: number,
  isSuspect: () => boolean,
): Found | Promise<Found> {
  const pending: Promise<Found>[] = [];
  for (const key of keys) {
    const found = directory.findByDigest(digestApiKey(key), maxAge, isSuspect);
    if (found instanceof Promise) pending.push(found);
    else if (found?.key !== undefined && pending.length === 0) return found;
    else pending.push(Promise.resolve(found));
  }
  return pending.length === 0 ? undefined : firstValid(pending);
}

async function firstValid(pending: readonly Promise<Found>[]): Promise<Found> {
  const results = await Promise.allSettled(pending);
  for (const result of results) {
    if (result.status === 'fulfilled' && result.value?.key !== undefined) return result.value;
  }
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return undefined;
}
