import type { Logger } from '../logger.ts';
import { defineSentences } from '../sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Why a dependency is unavailable: the English sentence, which pages recognise. */
export const connectionReason = defineSentences(en);

/** Messages for error codes of the system, of PostgreSQL and of the drivers, safe to show to any caller. */
const messages: readonly (readonly [RegExp, string])[] = [
  [/\bECONNREFUSED\b/, connectionReason('connection.reason.refused_connection')],
  [/\b(ENOTFOUND|EAI_AGAIN)\b/, connectionReason('connection.reason.unknown_host')],
  [/\b(EHOSTUNREACH|ENETUNREACH)\b/, connectionReason('connection.reason.no_way')],
  [/\b(ETIMEDOUT|ESOCKETTIMEDOUT)\b|timed? ?out|timeout|in time/i, connectionReason('connection.reason.silent')],
  [/\b(28P01|28000|NOAUTH|WRONGPASS|NOPERM)\b/, connectionReason('connection.reason.authentication')],
  [/\b3D000\b/, connectionReason('connection.reason.no_database')],
  [/\b53300\b|max number of clients/, connectionReason('connection.reason.too_many')],
  [/\b(53100|ENOSPC|EDQUOT)\b/, connectionReason('connection.reason.disk_full')],
  [/\b(57P03|57P01|57P02|LOADING)\b/, connectionReason('connection.reason.starting')],
  [
    /\b(ECONNRESET|EPIPE|08\w{3})\b|connection (is|was|has been)? ?(closed|terminated)/i,
    connectionReason('connection.reason.lost'),
  ],
  [/its files were removed/, connectionReason('connection.reason.removed')],
  // From ioredis, for commands while it has no connection.
  [
    /isn't writeable|isn't ready|max retries per request|startup nodes|refresh slots cache/,
    connectionReason('connection.reason.not_connected'),
  ],
  // Of Redis Cluster, and of a URL of the other form.
  [/\bCLUSTERDOWN\b|slots without a node/, connectionReason('connection.reason.slots')],
  [/^ ?MOVED\b/, connectionReason('connection.reason.is_cluster')],
  [/cluster support disabled/, connectionReason('connection.reason.no_cluster')],
];

/** True for failures of the database or of Redis, as opposed to mistakes in the code. */
export function isConnectionError(thrown: unknown): boolean {
  return findMessage(thrown) !== undefined;
}

/** Why a dependency is unavailable. Messages of drivers are never repeated: they contain addresses, names and queries. */
export function describeConnectionError(thrown: unknown): string {
  return findMessage(thrown) ?? connectionReason('connection.reason.unknown');
}

/** The message of an error, or why the dependency behind it is unavailable. */
export function describeFailure(message: string): string {
  return findMessage(new Error(message)) ?? message;
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
