import type { IncomingHttpHeaders } from 'node:http';
import { isAccessToken } from '#core/business/accounts/access-token.ts';
import { isApiKey } from '#core/business/accounts/api-key.ts';

/**
 * The keys of this gateway in a request, without duplicates, in order of precedence: `Authorization: Bearer` (OpenAI's SDK,
 * Codex, newer Anthropic SDKs), `x-api-key` (Anthropic SDKs), `x-goog-api-key` (Google SDKs).
 *
 * Tools send several: Claude Code sends the shell's `ANTHROPIC_API_KEY` in addition to its configured token. Keys of other
 * services are not in the list.
 *
 * Keys in the URL are ignored: URLs end up in logs, so such a key must never work.
 */
export function presentedKeys(headers: IncomingHttpHeaders, prefix: string): readonly string[] {
  const values = [bearerOf(headers.authorization), single(headers['x-api-key']), single(headers['x-goog-api-key'])];
  return values.filter(
    (value, index): value is string =>
      value !== undefined && values.indexOf(value) === index && isApiKey(value, prefix),
  );
}

/** The token of a page that a request carries in place of a key. Only `Authorization: Bearer` takes one. */
export function presentedAccessToken(headers: IncomingHttpHeaders, prefix: string): string | undefined {
  const token = bearerOf(headers.authorization);
  return token !== undefined && isAccessToken(token, prefix) ? token : undefined;
}

/** The scheme is case-insensitive, and more than one space may follow it (RFC 9110, 11.1 and 11.4). */
function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  return header.slice(7).trim();
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
