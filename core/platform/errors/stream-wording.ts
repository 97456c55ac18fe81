import type { ErrorCode, GatewayError } from './table.ts';

/**
 * How the message of a transient error begins inside a stream. A status cannot ask for a retry there, so clients look for
 * words: `connection error`, `connection reset`, `server error`, `stream timed out`, `rate limit`. With these, they
 * recover as they do when the connection is cut. What each client looks for: docs/clients.md.
 */
const openings: Partial<Readonly<Record<ErrorCode, string>>> = {
  upstream_failed: 'Connection error: connection reset by the upstream.',
  upstream_timeout: 'Connection error: stream timed out, connection reset.',
  unavailable: 'Connection error: server error of the upstream, connection reset.',
  internal_error: 'Connection error: server error, connection reset.',
  shutting_down: 'Connection error: connection reset by the server.',
  rate_limited: 'Connection error: rate limit reached, connection reset.',
};

/**
 * The message of an error inside a stream.
 *
 * @param message as sent outside of streams
 */
export function streamMessage({ code, details: { retryAfter } }: GatewayError, message: string): string {
  const opening = openings[code];
  if (opening === undefined) return message;
  // A stream cannot carry Retry-After; Codex parses the wait from these words.
  const wait = code === 'rate_limited' && retryAfter !== undefined ? ` Try again in ${Math.ceil(retryAfter)}s.` : '';
  return `${opening}${wait} ${message}`;
}
