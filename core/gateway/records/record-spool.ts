import type { Host } from '../host/host.ts';

/** Lines of the journal that the database has, in a file until the collector has them too. */
export interface SpooledRecords {
  readonly records: number;
  /** The lines, some hundred at a time. */
  read(): AsyncIterable<readonly string[]>;
  /** Forgets them. */
  remove(): Promise<void>;
}

/** Records on their way to a collector. They survive a restart and a crash, and then may be sent twice: their ids are the same. */
export interface RecordSpool {
  /** The oldest that wait; undefined when there are none. */
  oldest(): SpooledRecords | undefined;
  /** Records that were not kept: the limit of bytes is reached, or the disk refuses them. */
  readonly dropped: number;
  readonly waiting: number;
  /** Called when there are more. */
  onAdded: () => void;
}

interface OpenSpool {
  spool: RecordSpool | undefined;
}

/** The journal's spool for the exporter of records; empty without one. */
export function openRecordSpool(host: Pick<Host, 'keep'>): OpenSpool {
  return host.keep('records/spool', () => ({ spool: undefined }) as OpenSpool);
}
