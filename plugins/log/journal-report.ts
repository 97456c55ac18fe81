import { freeDiskBytes } from '#core/gateway/health/disk-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JournalStatus } from '#core/gateway/records/journal-status.ts';
import { openLog } from './gauges.ts';

/** The journal of this process as operators see it. */
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
