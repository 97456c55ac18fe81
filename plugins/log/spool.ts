import { join } from 'node:path';
import type { RecordSpool, SpooledRecords } from '#core/gateway/records/record-spool.ts';
import { runInBackground } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { runOrPost, type Disk, DiskUnresponsive } from './disk/contract.ts';
import { listFolder } from './disk/list-folder.ts';
import { InstanceWatch } from './instance-lock.ts';
import { parseSegmentName, readSegment, formatSegmentName } from './segment.ts';

const searchIntervalMs = 10_000;
const reminderIntervalMs = 60_000;

interface SpooledBatch {
  readonly path: string;
  readonly bytes: number;
  readonly records: number; // 0 for records of a dead instance, which have already been counted
  lines: readonly string[] | undefined; // undefined once they are in the file
}

interface SpoolOptions {
  readonly disk: Disk;
  readonly journal: string;
  readonly instance: string;
  readonly maxBytes: number;
  readonly log: Logger;
}

/**
 * Each file contains lines that the database has committed. Instances that share the folder send their own files. Lines that the disk does
 * not accept wait in memory.
 */
export class FileSpool implements RecordSpool, AsyncDisposable {
  onAdded: () => void = () => {};
  readonly #folder: string;
  readonly #options: SpoolOptions;
  readonly #watch: InstanceWatch;
  readonly #batches: SpooledBatch[] = [];
  readonly #reminder = new Throttle(reminderIntervalMs);
  #nextNumber = 0;
  #droppedRecords = 0;
  #searchedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#folder = join(options.journal, 'telemetry');
    this.#watch = new InstanceWatch(options.disk, options.journal);
  }

  get dropped(): number {
    return this.#droppedRecords;
  }

  get waiting(): number {
    return this.#batches.reduce((sum, { records }) => sum + records, 0);
  }

  /** Never rejects, because the journal must not depend on the collector. */
  async add(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    const bytes = lines.reduce((sum, { length }) => sum + length + 1, 0);
    if (sumBytes(this.#batches) + bytes > this.#options.maxBytes)
      return this.#drop(lines.length, `${this.#options.maxBytes} bytes already wait for the collector`);
    const path = join(this.#folder, formatSegmentName(this.#options.instance, this.#nextNumber++));
    const batch = { path, bytes, records: lines.length, lines };
    const failure = (await this.#writeBatchesInMemory()) ?? (await this.#tryWrite(batch));
    if (failure !== undefined && sumBytes(this.#batchesInMemory) + bytes > bounds.spoolMemory)
      return this.#drop(lines.length, failure);
    this.#batches.push(batch);
    this.onAdded();
  }

  oldest(): SpooledRecords | undefined {
    if (this.#batches.length === 0) this.#search();
    const { disk } = this.#options;
    const batch = (disk.isUnresponsive && this.#batchesInMemory[0]) || this.#batches[0];
    if (batch === undefined) return undefined;
    const { records, lines, path } = batch;
    return {
      records,
      read: () => (lines === undefined ? readSegment(disk, path) : yieldOnce(lines)),
      remove: async () => {
        if (batch.lines === undefined) await runOrPost(disk, 'remove', path);
        const index = this.#batches.indexOf(batch);
        if (index >= 0) this.#batches.splice(index, 1);
      },
    };
  }

  /** Writes the lines in memory to files for the next start, or counts them as dropped. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failure = await this.#writeBatchesInMemory();
    const lostRecords = this.#batchesInMemory.reduce((sum, { records }) => sum + records, 0);
    if (failure !== undefined && lostRecords > 0) this.#drop(lostRecords, failure);
  }

  get #batchesInMemory(): readonly SpooledBatch[] {
    return this.#batches.filter(({ lines }) => lines !== undefined);
  }

  async #writeBatchesInMemory(): Promise<string | undefined> {
    for (const batch of this.#batchesInMemory) {
      const failure = await this.#tryWrite(batch);
      if (failure !== undefined) return failure;
      // The batch may have been sent while it was written.
      if (!this.#batches.includes(batch)) await this.#options.disk.run('remove', batch.path).catch(() => undefined);
    }
    return undefined;
  }

  async #tryWrite(batch: SpooledBatch): Promise<string | undefined> {
    const { disk } = this.#options;
    const wasSent = !disk.isUnresponsive;
    try {
      await disk.run('writeWhole', batch.path, `${(batch.lines ?? []).join('\n')}\n`);
      batch.lines = undefined;
      return undefined;
    } catch (error) {
      // The file may still be written, and the next start would send it again.
      if (error instanceof DiskUnresponsive && wasSent) disk.post('remove', batch.path);
      return error instanceof Error ? error.message : String(error);
    }
  }

  #drop(count: number, reason: string): void {
    this.#droppedRecords += count;
    if (!this.#reminder.tryPass()) return;
    this.#options.log.warn(`request records are not sent to the collector: ${reason}; the database has them`);
  }

  #search(): void {
    if (performance.now() - this.#searchedAt < searchIntervalMs) return;
    this.#searchedAt = performance.now();
    runInBackground(this.#options.log, 'looking for records to send to the collector', async () => {
      try {
        if (await this.#findLeftovers()) this.onAdded();
      } catch (error) {
        if (!(error instanceof DiskUnresponsive)) throw error;
      }
    });
  }

  async #findLeftovers(): Promise<boolean> {
    const { disk } = this.#options;
    const byInstance = new Map<string, SpooledBatch[]>();
    for await (const entries of listFolder(disk, this.#folder)) {
      for (const { name, bytes } of entries) {
        const instance = parseSegmentName(name)?.instance;
        if (instance === undefined || instance === this.#options.instance) continue;
        const batches = byInstance.get(instance) ?? [];
        batches.push({ path: join(this.#folder, name), bytes, records: 0, lines: undefined });
        byInstance.set(instance, batches);
      }
    }
    const leftoverBatches: SpooledBatch[] = [];
    for (const [instance, batches] of byInstance)
      if (await this.#watch.isDead(instance)) leftoverBatches.push(...batches);
    this.#batches.push(...leftoverBatches.toSorted((a, b) => (a.path < b.path ? -1 : 1)));
    return leftoverBatches.length > 0;
  }
}

function sumBytes(batches: readonly SpooledBatch[]): number {
  return batches.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function* yieldOnce(lines: readonly string[]): AsyncGenerator<readonly string[]> {
  yield lines;
}
