import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '#core/database/database.ts';
import type { Logger } from '#core/logger.ts';
import { InstanceLock } from './instance-lock.ts';
import { Journal, type JournalOptions } from './journal.ts';
import { Leftovers } from './leftovers.ts';
import { PostgresRecordStore, type RecordStore } from './record-store.ts';
import { Rejected } from './rejected.ts';
import { Shipper } from './shipper.ts';

/** Ms in which records are still shipped when the process stops; what is left waits for the next start. */
const stopDeadline = 5_000;

export interface RequestLogOptions extends Omit<JournalOptions, 'folder'> {
  readonly dataFolder: string;
  readonly store: RecordStore;
}

/** Journal, lock and shipper of this instance. Lives as long as the process, whatever happens to the configuration. */
export class RequestLog implements AsyncDisposable {
  readonly journal: Journal;
  readonly #lock: InstanceLock;
  readonly #shipper: Shipper;

  constructor({ dataFolder, store, ...options }: RequestLogOptions) {
    const { instance, log } = options;
    const folder = join(dataFolder, 'journal');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#lock = new InstanceLock(folder, instance, () => {
      log.warn('another instance took this one for dead; requests of that time may be on record as interrupted');
      this.journal.roll();
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

/** The log of this instance, with its records in the database. There is one a process. */
export function createRequestLog(host: {
  readonly instance: string;
  readonly dataFolder: string;
  readonly log: Logger;
  readonly database: Database;
}): RequestLog {
  return new RequestLog({
    instance: host.instance,
    dataFolder: host.dataFolder,
    log: host.log,
    store: new PostgresRecordStore(host.database),
  });
}
