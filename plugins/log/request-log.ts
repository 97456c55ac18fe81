import { join } from 'node:path';
import { sendsSignal, telemetrySection } from '#core/config/sections/telemetry-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { guardListener, runInBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import type { Disk } from './disk/contract.ts';
import { ThreadedDisk } from './disk/disk.ts';
import { InstanceLock } from './instance-lock.ts';
import { JournalFolder } from './journal-folder.ts';
import { Journal, type JournalOptions } from './journal.ts';
import { Leftovers } from './leftovers.ts';
import { PostgresRecordStore, PublishingStore, type RecordStore } from './record-store.ts';
import { RejectedLines } from './rejected-lines.ts';
import { Shipper, type ShippingFailure } from './shipper.ts';
import { FileSpool } from './spool.ts';
import { UnauthenticatedCounts } from './unauthenticated-counts.ts';

const defaultStopDeadlineMs = 5_000;

export interface RequestLogOptions extends Omit<JournalOptions, 'folder' | 'disk'> {
  readonly disk?: Disk & Partial<AsyncDisposable>; // default: a disk with its own thread
  readonly dataFolder: string;
  readonly store: RecordStore;
  readonly spoolBytes?: number | undefined; // of records that may wait for the collector; undefined if there is none
  readonly now?: () => number; // epoch ms; default: the system clock
  readonly checkIntervalMs?: number; // default: one second
  readonly stopDeadlineMs?: number; // how long records are shipped on shutdown; the rest waits for the next start; default: five seconds
}

/** The log lives as long as the process and survives reloads. */
export class RequestLog implements AsyncDisposable {
  readonly journal: Journal;
  readonly leftovers: Leftovers;
  readonly spool: FileSpool | undefined; // stored records on their way to a collector
  readonly unauthenticated: UnauthenticatedCounts;
  readonly #disk: Disk & Partial<AsyncDisposable>;
  readonly #lock: InstanceLock;
  readonly #shipper: Shipper;
  readonly #timer: NodeJS.Timeout;
  readonly #stopDeadlineMs: number;

  constructor({
    dataFolder,
    store,
    spoolBytes,
    checkIntervalMs = 1_000,
    stopDeadlineMs = defaultStopDeadlineMs,
    now = Date.now,
    disk = new ThreadedDisk(),
    ...options
  }: RequestLogOptions) {
    this.#stopDeadlineMs = stopDeadlineMs;
    const { instance, log } = options;
    const path = join(dataFolder, 'journal');
    const folder = new JournalFolder(path);
    this.#disk = disk;
    const events = {
      prepareFolder: () => folder.recreate(disk),
      onRetaken: (wasPaused: boolean) => this.#onLockRetaken(wasPaused, log),
      onRetakeFailure: (error: unknown) =>
        log.error('the journal lock is gone and cannot be written; retrying every 5 seconds', error),
    };
    this.#lock = new InstanceLock({ disk, folder: path, instance, log, events });
    this.journal = new Journal({ ...options, disk, folder });
    this.leftovers = new Leftovers(disk, path, instance, log);
    if (spoolBytes !== undefined)
      this.spool = new FileSpool({ disk, journal: path, instance, maxBytes: spoolBytes, log });
    this.#shipper = new Shipper({
      spool: this.spool,
      journal: this.journal,
      leftovers: this.leftovers,
      store,
      rejected: new RejectedLines(disk, join(path, 'rejected'), log, (reason) => this.journal.countLoss(reason)),
      isDiskUnresponsive: () => disk.isUnresponsive,
      log,
    });
    this.unauthenticated = new UnauthenticatedCounts({ add: (counts) => store.addUnauthenticated(counts), log, now });
    this.#timer = setInterval(
      guardListener(log, 'checking the journal', () => this.#check()),
      checkIntervalMs,
    ).unref();
  }

  get failure(): ShippingFailure | undefined {
    return this.#shipper.failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.journal.close();
    await Promise.all([this.#shipper.stop(this.#stopDeadlineMs), this.unauthenticated.finish(this.#stopDeadlineMs)]);
    await this.journal[Symbol.asyncDispose]();
    await this.spool?.[Symbol.asyncDispose]();
    await this.#lock[Symbol.asyncDispose]();
    await this.#disk[Symbol.asyncDispose]?.();
  }

  async #check(): Promise<void> {
    this.unauthenticated.store();
    // If files were removed, the lock may be gone as well, and other instances could ship segments in use.
    if (await this.journal.checkFiles()) await this.#lock.touch();
  }

  #onLockRetaken(wasPaused: boolean, log: Logger): void {
    if (wasPaused) {
      log.warn('another instance considered this one dead; requests from that time may be recorded as interrupted');
      this.journal.finished.noteShippedElsewhere();
    } else log.warn('the lock of this instance was removed from the journal and has been written again');
    runInBackground(log, 'writing the journal', () => this.journal.roll());
  }
}

export function createRequestLog(
  host: Pick<Host, 'instance' | 'dataFolder' | 'log' | 'now' | 'database' | 'shared' | 'keep' | 'section'>,
): RequestLog {
  const telemetry = host.section(telemetrySection);
  return new RequestLog({
    spoolBytes: sendsSignal(telemetry, 'records') ? telemetry.max_waiting_bytes : undefined,
    instance: host.instance,
    dataFolder: host.dataFolder,
    log: host.log,
    now: () => host.now(),
    store: new PublishingStore(new PostgresRecordStore(host.database), (accountIds) =>
      publishLive(host, 'requests', accountIds),
    ),
  });
}
