import type { Gauge } from '#core/gateway/health/gauge.ts';
import { freeDiskBytes } from '#core/gateway/health/disk-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JournalStatus } from '#core/gateway/records/journal-status.ts';
import type { Journal } from './journal.ts';
import type { RequestLog } from './request-log.ts';

/** The log of this process, with the options in force. */
export interface OpenLog {
  /** Undefined until a stage has opened it: gauges and checks do not. */
  requestLog: RequestLog | undefined;
  /** Ms. */
  lateAfter: number;
}

export function openLog(host: Pick<Host, 'keep'>): OpenLog {
  return host.keep('log/open', () => ({ requestLog: undefined, lateAfter: Number.POSITIVE_INFINITY }));
}

export const journalGauges: readonly Gauge[] = [
  {
    name: 'journal_waiting_bytes',
    description: 'Bytes of request records on disk that are not in the database yet.',
    read: (host) => readJournal(host, ({ waitingBytes }) => waitingBytes),
  },
  {
    name: 'journal_waiting_records',
    description: 'Request records of this process that are not in the database yet.',
    read: (host) => readJournal(host, ({ waitingRecords }) => waitingRecords),
  },
  {
    name: 'journal_oldest_seconds',
    description: 'Age of the oldest of them; 0 without any.',
    read: (host) => readJournal(host, ({ oldestAge }) => oldestAge / 1000),
  },
  {
    name: 'requests_without_record',
    description: 'Requests not recorded since the start.',
    read: (host) => readJournal(host, ({ losses }) => losses.total),
  },
];

function readJournal(host: Host, read: (journal: Journal) => number) {
  const { requestLog } = openLog(host);
  return requestLog === undefined ? [] : [{ value: read(requestLog.journal) }];
}

/** The status of this process's journal, for operators. */
export function describeJournal(host: Host): JournalStatus | undefined {
  const journal = openLog(host).requestLog?.journal;
  if (journal === undefined) return undefined;
  return {
    waiting_records: journal.waitingRecords,
    waiting_bytes: journal.waitingBytes,
    oldest_ms: Math.round(journal.oldestAge),
    lost_records: journal.losses.total,
    free_disk_bytes: freeDiskBytes(host.dataFolder) ?? null,
  };
}
