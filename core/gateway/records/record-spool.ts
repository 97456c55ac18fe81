import type { Host } from '../host/host.ts';

/** Journal lines already in the database, kept in a file until the collector has accepted them as well. */
export interface SpooledRecords {
  readonly records: number;
  /** The lines, a few hundred at a time. */
  read(): AsyncIterable<readonly string[]>;
  /** Deletes the lines. */
  remove(): Promise<void>;
}

/** Records on their way to a collector. They survive a restart and a crash, after which some may be sent twice, with the same ids. */
export interface RecordSpool {
  /** The oldest waiting records; undefined if there are none. */
  oldest(): SpooledRecords | undefined;
  /** Number of records dropped because the size limit was reached, or the disk rejected them. */
  readonly dropped: number;
  readonly waiting: number;
  /** Called when records were added. */
  onAdded: () => void;
}

interface OpenSpool {
  spool: RecordSpool | undefined;
}

/** Opens the journal's spool for the exporter of records; `spool` is undefined without one. */
export function openRecordSpool(host: Pick<Host, 'keep'>): OpenSpool {
  return host.keep('records/spool', () => ({ spool: undefined }) as OpenSpool);
}
