import { statfsSync } from 'node:fs';
import type { Host } from '#core/host.ts';
import type { JournalStatus } from '#core/records/journal-status.ts';
import { openJournal } from './gauges.ts';

/** The journal of this process as operators see it. */
export function describeJournal(host: Host): JournalStatus | undefined {
  const { journal } = openJournal(host);
  if (journal === undefined) return undefined;
  return {
    waiting_records: journal.waitingRecords,
    waiting_bytes: journal.waitingBytes,
    oldest_ms: Math.round(journal.oldestAge),
    lost_records: journal.lost,
    free_disk_bytes: freeBytes(host.dataFolder),
  };
}

function freeBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}
