import type { Logger } from '../logger.ts';

/** Messages for error codes of the system, of PostgreSQL and of the drivers, safe to show to any caller. */
const messages: readonly (readonly [RegExp, string])[] = [
  [/\bECONNREFUSED\b/, 'connection refused'],
  [/\b(ENOTFOUND|EAI_AGAIN)\b/, 'host name not found'],
  [/\b(EHOSTUNREACH|ENETUNREACH)\b/, 'no route to host'],
  [/\b(ETIMEDOUT|ESOCKETTIMEDOUT)\b|timed? ?out|timeout|in time/i, 'no response in time'],
  [/\b(28P01|28000|NOAUTH|WRONGPASS|NOPERM)\b/, 'authentication failed'],
  [/\b3D000\b/, 'database not found'],
  [/\b53300\b|max number of clients/, 'too many connections'],
  [/\b(53100|ENOSPC|EDQUOT)\b/, 'the disk is full'],
  [/\b(57P03|57P01|57P02|LOADING)\b/, 'starting or stopping'],
  [/\b(ECONNRESET|EPIPE|08\w{3})\b|connection (is|was|has been)? ?(closed|terminated)/i, 'connection lost'],
  [/its files were removed/, 'not running, or its files were removed'],
  // From ioredis, for commands while it has no connection.
  [/isn't writeable|isn't ready|max retries per request|startup nodes|refresh slots cache/, 'not connected'],
  // Of Redis Cluster, and of a URL of the other form.
  [/\bCLUSTERDOWN\b|slots without a node/, 'some slots of the cluster have no node'],
  [/^ ?MOVED\b/, 'it is a node of a Redis Cluster, whose URL begins with redis-cluster://'],
  [/cluster support disabled/, 'it is no Redis Cluster, so its URL begins with redis://'],
];

/** True for failures of the database or of Redis, as opposed to mistakes in the code. */
export function isConnectionError(thrown: unknown): boolean {
  return findMessage(thrown) !== undefined;
}

/** Why a dependency is unavailable. Messages of drivers are never repeated: they contain addresses, names and queries. */
export function describeConnectionError(thrown: unknown): string {
  return findMessage(thrown) ?? 'failed for an unknown reason; see the log';
}

/** Logs an error; without its stack where a dependency is down, which says no more than the reason. */
export function logFailure(log: Logger, message: string, thrown: unknown): void {
  const reason = findMessage(thrown);
  if (reason === undefined) log.error(message, thrown);
  else log.error(`${message}: ${reason}`);
}

function findMessage(thrown: unknown): string | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    const text = `${'code' in error ? String(error.code) : ''} ${error.message}`;
    // A cause may be one of these messages already.
    const { message } = error;
    const known = messages.find(([pattern, own]) => pattern.test(text) || message === own);
    if (known !== undefined) return known[1];
  }
  return undefined;
}
