import type { Database } from '#core/database/database.ts';
import { readProvenance } from './answers.ts';
import type { Saw } from './client.ts';

export interface RecordedAttempt {
  readonly route: string;
  readonly outcome: string;
}

/** What the gateway has written down of a request. */
export interface RequestRecord {
  readonly serial: string;
  readonly outcome: 'answered' | 'refused' | 'failed' | 'aborted' | 'interrupted';
  readonly status: number | null;
  readonly error_code: string | null;
  readonly route: string | null;
  readonly attempts: readonly RecordedAttempt[] | null;
}

/** Ms that records may take: segments are shipped every second, and a database that was away is tried with pauses. */
const patience = 30_000;
const pollInterval = 200; // ms

/** All records of the requests that got an answer, by serial. Waits until there is one of each, or for long. */
export async function recordsOf(database: Database, seen: readonly Saw[]): Promise<Map<string, RequestRecord[]>> {
  const wanted = seen.filter(({ status, ending }) => status !== undefined || ending === 'left');
  const until = performance.now() + patience;
  for (;;) {
    const records = await read(database);
    if (performance.now() > until || wanted.every(({ serial }) => records.has(serial))) return records;
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

/** What is wrong with the records of a request, in words; undefined when there is one and it tells the truth. */
export function judge(saw: Saw, records: readonly RequestRecord[] = []): string | undefined {
  const [record] = records;
  if (records.length > 1) return `${records.length} records`;
  if (record === undefined) return saw.status === undefined ? undefined : 'no record';
  const isTrue = truths[saw.ending](saw, record);
  return isTrue ? undefined : `saw ${describeSaw(saw)}, record says ${describeRecord(record)}`;
}

const truths: Readonly<Record<Saw['ending'], (saw: Saw, record: RequestRecord) => boolean>> = {
  complete: (saw, record) =>
    record.outcome === 'answered' && record.status === 200 && record.error_code === null && isRouteOf(saw, record),
  told: (saw, record) =>
    record.outcome === 'failed' && record.status === 200 && record.error_code !== null && isRouteOf(saw, record),
  refused: (saw, record) =>
    ['refused', 'failed'].includes(record.outcome) && record.status === saw.status && record.error_code !== null,
  left: (_saw, { outcome }) => outcome === 'aborted',
  cut: (_saw, { outcome }) => outcome === 'interrupted' || outcome === 'failed',
  // Whatever happened to a request whose answer never began, it was not answered.
  none: (_saw, { outcome }) => outcome !== 'answered',
  silent: () => false,
  misshapen: () => false,
};

/** True when the record names the route whose words the client has read. */
function isRouteOf({ text }: Saw, { route }: RequestRecord): boolean {
  const [answer] = readProvenance(text).answers;
  return answer === undefined || route?.split('/')[1] === answer.replace(/-\d+$/, '');
}

/** True when the client has read words of two answers, or of one with some left out. */
export function isSpliced({ text }: Saw): boolean {
  const { answers, isInOrder } = readProvenance(text);
  return answers.length > 1 || !isInOrder;
}

export function describeSaw({ ending, status, code, text }: Saw): string {
  const [answer] = readProvenance(text).answers;
  const from = answer === undefined ? '' : ` from ${answer.replace(/-\d+$/, '')}`;
  if (ending === 'complete') return `a whole answer${from}`;
  if (ending === 'told') return `words${from}, then an error in its format`;
  return [ending, status, code].filter((part) => part !== undefined).join(' ') + from;
}

export function describeRecord({ outcome, status, error_code, route }: RequestRecord): string {
  return [outcome, status, error_code, route === null ? undefined : `by ${plain(route)}`].filter(Boolean).join(' ');
}

export function describeAttempts({ attempts }: RequestRecord): string {
  return (attempts ?? []).map(({ route, outcome }) => `${plain(route)} ${outcome}`).join(', ') || 'none';
}

/** The faulty upstreams of the lanes are one to a reader. */
function plain(route: string): string {
  return route.replace(/^faulty-[^/]+/, 'faulty');
}
