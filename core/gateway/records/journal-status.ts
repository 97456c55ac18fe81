import type { StatusReport, StatusReports } from '../health/status-report.ts';
import type { Host } from '../host/host.ts';

/** This instance's records on their way to the database, as shown at `/readyz?verbose` and on the operator pages. */
export interface JournalStatus {
  readonly waiting_records: number;
  readonly waiting_bytes: number;
  /** Age of the oldest waiting record in ms. */
  readonly oldest_ms: number;
  /** Requests not recorded since the start. */
  readonly lost_records: number;
  /** Free space on the disk of the data folder; null if unknown. */
  readonly free_disk_bytes: number | null;
}

/** Status report about the journal; undefined before it is open. */
export function journalReport(report: (host: Host) => JournalStatus | undefined): StatusReport {
  return { name: 'journal', report: (host) => report(host) ?? null };
}

/** Status of the journal; undefined if no plugin provides one. */
export function readJournalStatus({ statusReports }: StatusReports, host: Host): JournalStatus | undefined {
  return (statusReports.get('journal')?.report(host) ?? undefined) as JournalStatus | undefined;
}
