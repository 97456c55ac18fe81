import type { IncomingHttpHeaders } from 'node:http';

/**
 * Picks the credential to check. OpenAI's SDK, Codex and newer Anthropic SDKs send `Authorization: Bearer`, older Anthropic
 * SDKs and curl examples `x-api-key`, Google's SDKs `x-goog-api-key`.
 *
 * 1. A credential with the gateway's prefix wins: Claude Code sends a valid Bearer token along with a vendor's stale `x-api-key`.
 * 2. Otherwise `Authorization` wins, then `x-api-key`.
 *
 * Keys in the URL are ignored: URLs end up in logs, so such a key must never work.
 */
export function presentedCredential(headers: IncomingHttpHeaders, prefix: string): string | undefined {
  const bearer = bearerOf(headers.authorization);
  if (bearer?.startsWith(prefix)) return bearer;
  const apiKey = single(headers['x-api-key']);
  if (apiKey?.startsWith(prefix)) return apiKey;
  const googleKey = single(headers['x-goog-api-key']);
  if (googleKey?.startsWith(prefix)) return googleKey;
  return bearer ?? apiKey ?? googleKey;
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
