import { readFreeDiskBytes } from '#core/gateway/health/disk-check.ts';
import { gauge } from '#core/gateway/health/gauge.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JournalStatus } from '#core/gateway/records/journal-status.ts';
import type { RequestLog } from './request-log.ts';

interface ActiveLog {
  requestLog: RequestLog | undefined; // undefined until a stage is active
  lateAfterMs: number;
}

export function getActiveLog(host: Pick<Host, 'keep'>): ActiveLog {
  return host.keep('log/open', () => ({ requestLog: undefined, lateAfterMs: Number.POSITIVE_INFINITY }));
}

const getJournal = (host: Host) => getActiveLog(host).requestLog?.journal;

export const journalGauges = [
  gauge(
    'journal_waiting_bytes',
    'Bytes of request records on disk that are not in the database yet.',
    (host) => getJournal(host)?.waitingBytes,
  ),
  gauge(
    'journal_waiting_records',
    'Request records of this process that are not in the database yet.',
    (host) => getJournal(host)?.waitingRecords,
  ),
  gauge('journal_oldest_seconds', 'Age of the oldest waiting request record; 0 if none is waiting.', (host) => {
    const oldestAgeMs = getJournal(host)?.oldestAgeMs;
    return oldestAgeMs === undefined ? undefined : oldestAgeMs / 1000;
  }),
  gauge('requests_without_record', 'Requests not recorded since startup.', (host) => getJournal(host)?.losses.total),
];

export function describeJournal(host: Host): JournalStatus | undefined {
  const journal = getJournal(host);
  if (journal === undefined) return undefined;
  return {
    waiting_records: journal.waitingRecords,
    waiting_bytes: journal.waitingBytes,
    oldest_ms: Math.round(journal.oldestAgeMs),
    lost_records: journal.losses.total,
    free_disk_bytes: readFreeDiskBytes(host) ?? null,
  };
}
