import type { Host } from '../host/host.ts';

/** A plugin's report about itself at `/readyz?verbose` of the operator's listener. */
export interface StatusReport {
  readonly name: string;
  /** A value that JSON can hold, without secrets. */
  report(host: Host): unknown;
}

/** The part of the registry with the status reports. */
export interface StatusReports {
  readonly statusReports: ReadonlyMap<string, StatusReport>;
}
