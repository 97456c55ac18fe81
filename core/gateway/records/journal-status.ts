import type { StatusReport, StatusReports } from '../health/status-report.ts';
import type { Host } from '../host/host.ts';

/** Status of this instance's records that have not reached the database, shown at `/readyz?verbose` and on the operator pages. */
export interface JournalStatus {
  readonly waiting_records: number;
  readonly waiting_bytes: number;
  readonly oldest_ms: number; // age of the oldest waiting record
  readonly lost_records: number; // requests since the start that could not be recorded
  readonly free_disk_bytes: number | null; // on the disk of the data folder; null if unknown
}

/** `report` returns undefined before the journal is open. */
export function createJournalReport(report: (host: Host) => JournalStatus | undefined): StatusReport {
  return { name: 'journal', report: (host) => report(host) ?? null };
}

/** Undefined before the journal is open, or if no plugin provides its status. */
export function readJournalStatus({ statusReports }: StatusReports, host: Host): JournalStatus | undefined {
  return (statusReports.get('journal')?.report(host) ?? undefined) as JournalStatus | undefined;
}
