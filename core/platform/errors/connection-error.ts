import type { Logger } from '../logger.ts';
import { defineSentences } from '../sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Returns an English sentence about an unavailable dependency, which pages can translate. */
export const connectionReason = defineSentences(en);

type ReasonKey = Parameters<typeof connectionReason>[0];

/**
 * Reasons for error codes of the system, PostgreSQL and the drivers, safe to show to any caller. The patterns' named groups fill the
 * placeholders: names of commands and a pooler's message.
 */
const reasons: readonly (readonly [RegExp, ReasonKey])[] = [
  [/\bECONNREFUSED\b/, 'connection.reason.refused_connection'],
  [/\b(ENOTFOUND|EAI_AGAIN)\b/, 'connection.reason.unknown_host'],
  [/\b(EHOSTUNREACH|ENETUNREACH)\b/, 'connection.reason.no_way'],
  // PgBouncer uses one code for all rejections.
  [/^08P01 .*?(?<said>[ -!#-~]{1,120})/, 'connection.reason.pooler'],
  [/\b(ETIMEDOUT|ESOCKETTIMEDOUT)\b|timed? ?out|timeout|in time/i, 'connection.reason.silent'],
  [/\b(28P01|28000|NOAUTH|WRONGPASS)\b/, 'connection.reason.authentication'],
  [/\b3D000\b/, 'connection.reason.no_database'],
  [/\b53300\b|max number of clients/, 'connection.reason.too_many'],
  [/\b(53100|ENOSPC|EDQUOT)\b/, 'connection.reason.disk_full'],
  [/\b(57P03|57P01|57P02|LOADING)\b/, 'connection.reason.starting'],
  [
    /\b(ECONNRESET|EPIPE|08(?!P01)\w{3})\b|connection (is|was|has been)? ?(closed|terminated)/i,
    'connection.reason.lost',
  ],
  [/its files were removed/, 'connection.reason.removed'],
  // ioredis rejects commands with these messages while it is not connected.
  [
    /isn't writeable|isn't ready|max retries per request|startup nodes|refresh slots cache/,
    'connection.reason.not_connected',
  ],
  // Redis Cluster, and a URL of the wrong kind.
  [/\bCLUSTERDOWN\b|slots without a node/, 'connection.reason.slots'],
  [/^ ?MOVED\b/, 'connection.reason.is_cluster'],
  [/cluster support disabled/, 'connection.reason.no_cluster'],
  [/^\b$/, 'connection.reason.proxy'], // detected by `findCommandProxy`, without an error to match
];

const commandRefusals: readonly (readonly [RegExp, ReasonKey])[] = [
  [/no permissions to run the '(?<command>[\w|]+)'/, 'connection.reason.no_right'],
  [/\bNOPERM\b|no permissions to access|can't run this command/i, 'connection.reason.no_right_to_keys'],
  [/\bunknown command [`'"]?(?<command>[\w|]+)/i, 'connection.reason.unknown_command'],
  [/\bOOM\b/, 'connection.reason.memory_full'],
  [/\bREADONLY\b/, 'connection.reason.read_only'],
  [/\bMISCONF\b/, 'connection.reason.not_saving'],
];

/** Returns true for failures of the database or Redis, false for bugs. */
export function isConnectionError(thrown: unknown): boolean {
  return findSentence(thrown) !== undefined;
}

const unreachableKeys = new Set<ReasonKey>([
  'connection.reason.refused_connection',
  'connection.reason.unknown_host',
  'connection.reason.no_way',
  'connection.reason.pooler',
  'connection.reason.silent',
  'connection.reason.too_many',
  'connection.reason.starting',
  'connection.reason.lost',
]);
const unreachableReasons = reasons.filter(([, key]) => unreachableKeys.has(key));

/** Returns true if a dependency is unreachable; false if, for example, it rejects the login. */
export function isUnreachable(thrown: unknown): boolean {
  return findReason(thrown, unreachableReasons) !== undefined;
}

/** Returns true for an error of a single Redis command, such as a missing permission or full memory. Other commands may succeed. */
export function isRefusedCommand(thrown: unknown): boolean {
  return findReason(thrown, commandRefusals) !== undefined;
}

/** Describes why a dependency is unavailable. Never repeats messages of drivers, because they contain addresses, names and queries. */
export function describeConnectionError(thrown: unknown): string {
  return findSentence(thrown) ?? connectionReason('connection.reason.unknown');
}

export function describeFailure(message: string): string {
  return findSentence(new Error(message)) ?? message;
}

/** Logs an error. If a dependency is down, omits the stack, which adds nothing to the reason. */
export function logFailure(log: Logger, message: string, thrown: unknown): void {
  const reason = findSentence(thrown);
  if (reason === undefined) log.error(message, thrown);
  else log.error(`${message}: ${reason}`);
}

function findSentence(thrown: unknown): string | undefined {
  return findReason(thrown, [...commandRefusals, ...reasons]);
}

function findReason(thrown: unknown, candidates: typeof reasons): string | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    const { message } = error;
    // A cause may already be one of these sentences.
    if (candidates.some(([, key]) => sentencePatterns.get(key)?.test(message) === true)) return message;
    const text = `${'code' in error ? String(error.code) : ''} ${message}`;
    for (const [pattern, key] of candidates) {
      const match = pattern.exec(text);
      if (match !== null) return connectionReason(key, match.groups);
    }
  }
  return undefined;
}

const sentencePatterns: ReadonlyMap<string, RegExp> = new Map(
  Object.entries(en).map(([key, text]) => [
    key,
    new RegExp(
      `^${text
        .split(/\{\w+\}/)
        .map((part) => RegExp.escape(part))
        .join('.{1,200}')}$`,
    ),
  ]),
);
