import type { ErrorCode, GatewayError } from './table.ts';

/**
 * Prefixes for transient errors inside a stream. No status can request a retry there, so clients match phrases: `connection error`,
 * `connection reset`, `server error`, `stream timed out`, `rate limit`. They then recover as if the connection had been cut.
 * docs/clients.md lists each client's phrases.
 */
const prefixes: Partial<Readonly<Record<ErrorCode, string>>> = {
  upstream_failed: 'Connection error: connection reset by the upstream.',
  upstream_timeout: 'Connection error: stream timed out, connection reset.',
  unavailable: 'Connection error: server error of the upstream, connection reset.',
  internal_error: 'Connection error: server error, connection reset.',
  shutting_down: 'Connection error: connection reset by the server.',
  rate_limited: 'Connection error: rate limit reached, connection reset.',
};

/** @param message as sent outside streams */
export function renderStreamMessage({ code, details: { retryAfter } }: GatewayError, message: string): string {
  const prefix = prefixes[code];
  if (prefix === undefined) return message;
  // A stream cannot carry Retry-After. Codex parses the wait from this sentence.
  const wait = code === 'rate_limited' && retryAfter !== undefined ? ` Try again in ${Math.ceil(retryAfter)}s.` : '';
  return `${prefix}${wait} ${message}`;
}
