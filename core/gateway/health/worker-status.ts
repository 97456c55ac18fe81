import type { Host } from '../host/host.ts';
import type { StatusReport, StatusReports } from './status-report.ts';

/** One of several processes under a supervisor, as shown at `/readyz?verbose` and on the operator pages. */
export interface WorkerStatus {
  /** Number from 1; a successor process gets the same number. */
  readonly worker: number;
  readonly state: 'ready' | 'starting' | 'ended';
  /** Process id; undefined while no process runs. */
  readonly process: number | undefined;
  /** ISO time when the process started; undefined while none runs. */
  readonly since: string | undefined;
  /** Number of crashes since the supervisor started. */
  readonly crashes: number;
}

export function createWorkersReport(report: () => readonly WorkerStatus[]): StatusReport {
  return { name: 'workers', report };
}

/** Empty in a gateway with a single process. */
export function readWorkers({ statusReports }: StatusReports, host: Host): readonly WorkerStatus[] {
  return (statusReports.get('workers')?.report(host) ?? []) as readonly WorkerStatus[];
}
