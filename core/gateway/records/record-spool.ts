import type { Host } from '../host/host.ts';

/** Journal lines that are in the database, kept in a file until the collector has accepted them too. */
export interface SpooledRecords {
  readonly records: number;
  /** Reads the lines, a few hundred at a time. */
  read(): AsyncIterable<readonly string[]>;
  remove(): Promise<void>;
}

/** Records waiting for a collector. They survive a restart or crash, after which some may be sent twice with the same id. */
export interface RecordSpool {
  oldest(): SpooledRecords | undefined;
  readonly dropped: number; // because the size limit was reached, or the disk rejected them
  readonly waiting: number;
  onAdded: () => void;
}

interface SpoolHolder {
  spool: RecordSpool | undefined;
}

/** Returns the journal's spool for the exporter of records. Its `spool` is undefined if there is no exporter. */
export function getRecordSpool(host: Pick<Host, 'keep'>): SpoolHolder {
  return host.keep('records/spool', () => ({ spool: undefined }));
}
