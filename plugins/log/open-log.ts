import { gauge } from '#core/gateway/health/gauge.ts';
import { freeDiskBytes } from '#core/gateway/health/disk-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JournalStatus } from '#core/gateway/records/journal-status.ts';
import type { RequestLog } from './request-log.ts';

interface OpenLog {
  requestLog: RequestLog | undefined;
  lateAfter: number; // ms
}

export function openLog(host: Pick<Host, 'keep'>): OpenLog {
  return host.keep('log/open', () => ({ requestLog: undefined, lateAfter: Number.POSITIVE_INFINITY }));
}

const journalOf = (host: Host) => openLog(host).requestLog?.journal;

/** Gauges without readings until a stage has opened the journal. */
export const journalGauges = [
  gauge(
    'journal_waiting_bytes',
    'Bytes of request records on disk that are not in the database yet.',
    (host) => journalOf(host)?.waitingBytes,
  ),
  gauge(
    'journal_waiting_records',
    'Request records of this process that are not in the database yet.',
    (host) => journalOf(host)?.waitingRecords,
  ),
  gauge('journal_oldest_seconds', 'Age of the oldest of them; 0 without any.', (host) => {
    const oldest = journalOf(host)?.oldestAge;
    return oldest && oldest / 1000;
  }),
  gauge('requests_without_record', 'Requests not recorded since the start.', (host) => journalOf(host)?.losses.total),
];

/** The status of this process's journal, for operators. */
export function describeJournal(host: Host): JournalStatus | undefined {
  const journal = journalOf(host);
  if (journal === undefined) return undefined;
  return {
    waiting_records: journal.waitingRecords,
    waiting_bytes: journal.waitingBytes,
    oldest_ms: Math.round(journal.oldestAge),
    lost_records: journal.losses.total,
    free_disk_bytes: freeDiskBytes(host) ?? null,
  };
}
