import type { Host } from '../host/host.ts';
import type { StatusReport, StatusReports } from './status-report.ts';

/** One of several processes under a supervisor, as shown at `/readyz?verbose` and on the operator pages. */
export interface WorkerStatus {
  readonly worker: number; // from 1; a successor process gets the same number
  readonly state: 'ready' | 'starting' | 'ended';
  readonly process: number | undefined; // id; undefined while no process runs
  readonly since: string | undefined; // ISO time of the process's start; undefined while none runs
  readonly crashes: number; // since the supervisor started
}

export function createWorkersReport(report: () => readonly WorkerStatus[]): StatusReport {
  return { name: 'workers', report };
}

/** Returns an empty list in a gateway with a single process. */
export function readWorkers({ statusReports }: StatusReports, host: Host): readonly WorkerStatus[] {
  return (statusReports.get('workers')?.report(host) ?? []) as readonly WorkerStatus[];
}
