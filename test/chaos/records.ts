import type { Database } from '#core/platform/database/database.ts';
import { readProvenance } from './answers.ts';
import type { Observation } from './client.ts';

export interface RecordedAttempt {
  readonly route: string;
  readonly outcome: string;
}

/** What the gateway recorded about a request. */
export interface RequestRecord {
  readonly serial: string;
  readonly outcome: 'answered' | 'refused' | 'failed' | 'aborted' | 'interrupted';
  readonly status: number | null;
  readonly error_code: string | null;
  readonly route: string | null;
  readonly attempts: readonly RecordedAttempt[] | null;
}

/** Ms until records are complete: segments ship every second, and a database that was down is retried with pauses. */
const recordTimeout = 30_000;
const pollInterval = 200; // ms

/** All records of the answered requests, by serial. Waits until each has one, or the timeout has passed. */
export async function recordsOf(
  database: Database,
  seen: readonly Observation[],
): Promise<Map<string, RequestRecord[]>> {
  const wanted = seen.filter(({ status, ending }) => status !== undefined || ending === 'left');
  const until = performance.now() + recordTimeout;
  for (;;) {
    const records = await read(database);
    if (performance.now() > until || wanted.every(({ serial }) => records.has(serial))) return records;
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
}

/** The number of records by user agent. Waits until each of these has one, or the timeout has passed. */
export async function countRecords(database: Database, agents: readonly string[]): Promise<Map<string, number>> {
  const until = performance.now() + recordTimeout;
  for (;;) {
    const rows = await database.query<{ agent: string; count: number }>(
      'SELECT user_agent AS agent, count(*)::int AS count FROM request_log GROUP BY user_agent',
    );
    const counts = new Map(rows.map(({ agent, count }) => [agent, count]));
    if (performance.now() > until || agents.every((agent) => counts.has(agent))) return counts;
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
}

async function read(database: Database): Promise<Map<string, RequestRecord[]>> {
  const rows = await database.query<RequestRecord>(
    `SELECT user_agent AS serial, outcome, status, error_code, route, attempts
     FROM request_log WHERE user_agent LIKE 'chaos-%'`,
  );
  return Map.groupBy(rows, ({ serial }) => serial);
}

/** What is wrong with the records of a request; undefined when there is exactly one and it is correct. */
export function findMistake(observed: Observation, records: readonly RequestRecord[] = []): string | undefined {
  const [record] = records;
  if (records.length > 1) return `${records.length} records`;
  if (record === undefined) return observed.status === undefined ? undefined : 'no record';
  const isCorrect = checks[observed.ending](observed, record);
  return isCorrect ? undefined : `saw ${describeObservation(observed)}, record says ${describeRecord(record)}`;
}

const checks: Readonly<Record<Observation['ending'], (observed: Observation, record: RequestRecord) => boolean>> = {
  complete: (observed, record) =>
    record.outcome === 'answered' && record.status === 200 && record.error_code === null && isRouteOf(observed, record),
  error: (observed, record) =>
    record.outcome === 'failed' && record.status === 200 && record.error_code !== null && isRouteOf(observed, record),
  refused: (observed, record) =>
    ['refused', 'failed'].includes(record.outcome) && record.status === observed.status && record.error_code !== null,
  // A backup's short answer may have been delivered as a whole before its client left.
  left: ({ question }, { outcome, route }) =>
    outcome === 'aborted' || (outcome === 'answered' && route?.split('/')[1] !== question.model),
  cut: (_saw, { outcome }) => outcome === 'interrupted' || outcome === 'failed',
  // An answer that never began cannot be recorded as answered.
  none: (_saw, { outcome }) => outcome !== 'answered',
  truncated: () => false,
  malformed: () => false,
};

/** True when the record names the route whose text the client has read. */
function isRouteOf({ text }: Observation, { route }: RequestRecord): boolean {
  const [answer] = readProvenance(text).answers;
  return answer === undefined || route?.split('/')[1] === answer.replace(/-\d+$/, '');
}

/** True when the client has read words of two answers, or of one with words missing. */
export function isSpliced({ text }: Observation): boolean {
  const { answers, isInOrder } = readProvenance(text);
  return answers.length > 1 || !isInOrder;
}

export function describeObservation({ ending, status, code, text, received }: Observation): string {
  const [answer] = readProvenance(text).answers;
  const from = answer === undefined ? '' : ` from ${answer.replace(/-\d+$/, '')}`;
  if (ending === 'complete') return `a whole answer${from}`;
  if (ending === 'error') return `text${from}, then an error in its format`;
  const excerpt = received === undefined ? undefined : JSON.stringify(received);
  return [ending, status, code, excerpt].filter((part) => part !== undefined).join(' ') + from;
}

export function describeRecord({ outcome, status, error_code, route }: RequestRecord): string {
  return [outcome, status, error_code, route === null ? undefined : `by ${plain(route)}`].filter(Boolean).join(' ');
}

export function describeAttempts({ attempts }: RequestRecord): string {
  return (attempts ?? []).map(({ route, outcome }) => `${plain(route)} ${outcome}`).join(', ') || 'none';
}

/** Shows the faulty upstreams of all lanes under one name. */
function plain(route: string): string {
  return route.replace(/^faulty-[^/]+/, 'faulty');
}
