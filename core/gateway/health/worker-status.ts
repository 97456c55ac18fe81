import type { Host } from '../host/host.ts';
import type { StatusReport, StatusReports } from './status-report.ts';

/** One of several processes under a supervisor: at `/readyz?verbose`, and on the operator pages. */
export interface WorkerStatus {
  /** From 1; its successor has the same one. */
  readonly worker: number;
  readonly state: 'ready' | 'starting' | 'ended';
  /** Process id; undefined while no process runs. */
  readonly process: number | undefined;
  /** ISO time at which the process started; undefined while none runs. */
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
