import type { IncomingHttpHeaders } from 'node:http';

/**
 * The credential that counts, among those that clients send. `Authorization: Bearer` is what OpenAI's SDK, Codex and
 * newer Anthropic SDKs send; `x-api-key` older Anthropic SDKs and curl examples; `x-goog-api-key` Google's.
 *
 * 1. One that begins with the gateway's own prefix counts before any other: Claude Code sends a good Bearer beside the
 *    stale `x-api-key` of some vendor.
 * 2. Where that leaves several, `Authorization` decides, then `x-api-key`.
 *
 * The URL is not looked at: it ends up in logs, so that a key there must never work.
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

/** The scheme's case does not matter, and several spaces may follow it (RFC 9110, 11.1 and 11.4). */
function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  return header.slice(7).trim();
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
