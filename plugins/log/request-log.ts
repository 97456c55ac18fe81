import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '#core/host.ts';
import { publishLive } from '#core/pages/live/live-bus.ts';
import { PublishingStore } from './publishing-store.ts';
import { InstanceLock } from './instance-lock.ts';
import { Journal, type JournalOptions } from './journal.ts';
import { Leftovers } from './leftovers.ts';
import { PostgresRecordStore, type RecordStore } from './record-store.ts';
import { Rejected } from './rejected.ts';
import { Shipper } from './shipper.ts';

/** Ms for which records are shipped on shutdown; the remaining ones wait for the next start. */
const stopDeadline = 5_000;

export interface RequestLogOptions extends Omit<JournalOptions, 'folder'> {
  readonly dataFolder: string;
  readonly store: RecordStore;
}

/** Journal, lock and shipper of this instance. Lives as long as the process, across reloads. */
export class RequestLog implements AsyncDisposable {
  readonly journal: Journal;
  readonly #lock: InstanceLock;
  readonly #shipper: Shipper;

  constructor({ dataFolder, store, ...options }: RequestLogOptions) {
    const { instance, log } = options;
    const folder = join(dataFolder, 'journal');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#lock = new InstanceLock(folder, instance, {
      onLost: () => {
        log.warn('another instance considered this one dead; requests from that time may be recorded as interrupted');
        this.journal.roll();
      },
      onFailure: (error) =>
        log.error('the lock of the journal is gone and cannot be written; trying again every 5 seconds', error),
    });
    this.journal = new Journal({ ...options, folder });
    this.#shipper = new Shipper({
      journal: this.journal,
      leftovers: new Leftovers(folder, instance),
      store,
      rejected: new Rejected(join(folder, 'rejected'), log),
      log,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.journal[Symbol.dispose]();
    await this.#shipper.stop(stopDeadline);
    this.#lock[Symbol.dispose]();
  }
}

/** Creates the log of this instance, with its records in the database. There is one per process. */
export function createRequestLog(
  host: Pick<Host, 'instance' | 'dataFolder' | 'log' | 'database' | 'shared' | 'keep'>,
): RequestLog {
  return new RequestLog({
    instance: host.instance,
    dataFolder: host.dataFolder,
    log: host.log,
    store: new PublishingStore(new PostgresRecordStore(host.database), (accountIds) =>
      publishLive(host, 'requests', accountIds),
    ),
  });
}
