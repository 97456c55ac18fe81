import type { Host } from '../host/host.ts';

/** A plugin's status report at `/readyz?verbose` of the operator listener. */
export interface StatusReport {
  readonly name: string;
  /** Returns a JSON value without secrets. */
  report(host: Host): unknown;
}

export interface StatusReports {
  readonly statusReports: ReadonlyMap<string, StatusReport>;
}
