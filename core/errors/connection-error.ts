/** What codes of the system, of PostgreSQL and of the drivers mean, in words that are fit for anybody. */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/\bECONNREFUSED\b/, 'the connection was refused'],
  [/\b(ENOTFOUND|EAI_AGAIN)\b/, 'the name of its host is not known'],
  [/\b(EHOSTUNREACH|ENETUNREACH)\b/, 'there is no way to its host'],
  [/\b(ETIMEDOUT|ESOCKETTIMEDOUT)\b|timed? ?out|timeout|in time/i, 'it did not answer in time'],
  [/\b(28P01|28000|NOAUTH|WRONGPASS|NOPERM)\b/, 'it does not let the gateway in'],
  [/\b3D000\b/, 'there is no such database'],
  [/\b53300\b|max number of clients/, 'it has too many connections'],
  [/\b(57P03|57P01|57P02|LOADING)\b/, 'it is starting or stopping'],
  [/\b(ECONNRESET|EPIPE|08\w{3})\b|connection (is|was|has been)? ?(closed|terminated)/i, 'the connection broke'],
  // What ioredis says of commands while it has no connection.
  [/isn't writeable/, 'there is no connection to it'],
];

/**
 * Why something that the gateway depends on is away. Only what is known beforehand is said: messages of drivers hold
 * addresses, names and queries.
 */
export function describeConnectionError(thrown: unknown): string {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    const text = `${'code' in error ? String(error.code) : ''} ${error.message}`;
    const meaning = meanings.find(([pattern]) => pattern.test(text));
    if (meaning !== undefined) return meaning[1];
  }
  return 'it did not answer as it should; the log has more';
}
