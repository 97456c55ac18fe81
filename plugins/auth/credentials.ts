import type { IncomingHttpHeaders } from 'node:http';
import { isAccessToken } from '#core/business/accounts/access-token.ts';
import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { isApiKey, digestApiKey } from '#core/business/accounts/api-key.ts';
import type { AccountDirectory } from '#core/business/accounts/directory.ts';
import { dialects } from '#core/platform/errors/dialects.ts';

const keyHeaders = Object.values(dialects).flatMap(({ keyHeader }) => keyHeader ?? []);

/**
 * Reads this gateway's keys from a request, without duplicates, in order of precedence: `Authorization: Bearer` (OpenAI's SDK, Codex, newer
 * Anthropic SDKs), `x-api-key` (Anthropic SDKs), `x-goog-api-key` (Google SDKs).
 *
 * Tools may send several keys. Claude Code, for example, sends the shell's `ANTHROPIC_API_KEY` in addition to its configured token. Keys of
 * other services are skipped.
 *
 * Keys in the URL are ignored. URLs end up in logs, so such a key must never work.
 */
export function readPresentedKeys(headers: IncomingHttpHeaders, prefix: string): readonly string[] {
  const values = [parseBearer(headers.authorization), ...keyHeaders.map((name) => firstValue(headers[name]))];
  return values.filter(
    (value, index): value is string =>
      value !== undefined && values.indexOf(value) === index && isApiKey(value, prefix),
  );
}

/** Reads the access token that a page sends in place of a key. Only `Authorization: Bearer` can carry one. */
export function readPresentedToken(headers: IncomingHttpHeaders, prefix: string): string | undefined {
  const token = parseBearer(headers.authorization);
  return token !== undefined && isAccessToken(token, prefix) ? token : undefined;
}

/** The scheme is case-insensitive, and several spaces may follow it (RFC 9110 §11.1, §11.4). */
function parseBearer(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  return header.slice(7).trim();
}

function firstValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

type FoundAccount = AccountRecord | undefined;

/**
 * Returns the account of the first valid key, or undefined if none is valid. Keys that are not cached are looked up together in one query.
 *
 * @param maxAge maximum age of a cached key, seconds
 * @param isSuspect returns true if the caller has sent many unknown keys
 * @throws GatewayError `unavailable` if the database does not respond and none of the cached keys is valid
 */
export function findAccount(
  directory: Pick<AccountDirectory, 'findByDigest'>,
  keys: readonly string[],
  maxAge: number,
  isSuspect: () => boolean,
): FoundAccount | Promise<FoundAccount> {
  const pending: Promise<FoundAccount>[] = [];
  for (const key of keys) {
    const account = directory.findByDigest(digestApiKey(key), maxAge, isSuspect);
    if (account instanceof Promise) pending.push(account);
    else if (account?.key !== undefined && pending.length === 0) return account;
    else pending.push(Promise.resolve(account));
  }
  return pending.length === 0 ? undefined : findFirstValid(pending);
}

async function findFirstValid(pending: readonly Promise<FoundAccount>[]): Promise<FoundAccount> {
  const results = await Promise.allSettled(pending);
  for (const result of results) {
    if (result.status === 'fulfilled' && result.value?.key !== undefined) return result.value;
  }
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return undefined;
}
