import type { Host } from '../host/host.ts';
import type { StatusReport, StatusReports } from './status-report.ts';

/** One of several processes under a supervisor: at `/readyz?verbose`, and on the operator pages. */
export interface WorkerStatus {
  /** From 1; its successor has the same one. */
  readonly worker: number;
  readonly state: 'ready' | 'starting' | 'ended';
  /** Its process id; undefined while there is none, as the next. */
  readonly process: number | undefined;
  /** ISO time of its start. */
  readonly since: string | undefined;
  /** Since the supervisor started. */
  readonly crashes: number;
}

/** The status report about all workers. */
export function workersReport(report: () => readonly WorkerStatus[]): StatusReport {
  return { name: 'workers', report };
}

/** The status of all workers; empty in a gateway of one process. */
export function readWorkers({ statusReports }: StatusReports, host: Host): readonly WorkerStatus[] {
  return (statusReports.get('workers')?.report(host) ?? []) as readonly WorkerStatus[];
}
