import { join } from 'node:path';
import type { RecordSpool, SpooledRecords } from '#core/gateway/records/record-spool.ts';
import { inBackground } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { askOrPost, type Disk, DiskSilent } from './disk/contract.ts';
import { listFolder } from './disk/list-folder.ts';
import { InstanceWatch } from './instance-lock.ts';
import { parseSegmentName, readSegment, segmentName } from './segment.ts';

const searchIntervalMs = 10_000;
const reminderIntervalMs = 60_000;

/** A batch of records that waits for the collector, in a file or, if none can be written, in memory. */
interface Part {
  readonly path: string;
  readonly bytes: number;
  /** 0 for a dead instance's records, which are not counted again. */
  readonly records: number;
  lines: readonly string[] | undefined; // undefined once they are in their file
}

interface SpoolOptions {
  readonly disk: Disk;
  readonly journal: string;
  readonly instance: string;
  readonly maxBytes: number;
  readonly log: Logger;
}

/**
 * Files next to the journal, each with lines that the database has committed. Instances that share the folder send their own files.
 * Lines that the disk does not accept wait in memory.
 */
export class FileSpool implements RecordSpool, AsyncDisposable {
  onAdded: () => void = () => {};
  readonly #folder: string;
  readonly #options: SpoolOptions;
  readonly #watch: InstanceWatch;
  readonly #parts: Part[] = [];
  readonly #reminder = new Throttle(reminderIntervalMs);
  #number = 0;
  #dropped = 0;
  #searchedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#folder = join(options.journal, 'telemetry');
    this.#watch = new InstanceWatch(options.disk, options.journal);
  }

  get dropped(): number {
    return this.#dropped;
  }

  get waiting(): number {
    return this.#parts.reduce((sum, { records }) => sum + records, 0);
  }

  /** Keeps lines. Never rejects: the journal must not wait for the collector. */
  async add(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    const bytes = lines.reduce((sum, { length }) => sum + length + 1, 0);
    if (bytesOf(this.#parts) + bytes > this.#options.maxBytes)
      return this.#drop(lines.length, `${this.#options.maxBytes} bytes wait for the collector already`);
    const path = join(this.#folder, segmentName(this.#options.instance, this.#number++));
    const part = { path, bytes, records: lines.length, lines };
    const failure = (await this.#writeHeld()) ?? (await this.#write(part));
    if (failure !== undefined && bytesOf(this.#held) + bytes > bounds.spoolMemory)
      return this.#drop(lines.length, failure);
    this.#parts.push(part);
    this.onAdded();
  }

  oldest(): SpooledRecords | undefined {
    if (this.#parts.length === 0) this.#search();
    const { disk } = this.#options;
    const part = (disk.isSilent && this.#held[0]) || this.#parts[0];
    if (part === undefined) return undefined;
    const { records, lines, path } = part;
    return {
      records,
      read: () => (lines === undefined ? readSegment(disk, path) : inOneStep(lines)),
      remove: async () => {
        if (part.lines === undefined) await askOrPost(disk, 'remove', path);
        const index = this.#parts.indexOf(part);
        if (index >= 0) this.#parts.splice(index, 1);
      },
    };
  }

  /** Writes lines in memory for the next start, or counts them as dropped. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failure = await this.#writeHeld();
    const lost = this.#held.reduce((sum, { records }) => sum + records, 0);
    if (failure !== undefined && lost > 0) this.#drop(lost, failure);
  }

  get #held(): readonly Part[] {
    return this.#parts.filter(({ lines }) => lines !== undefined);
  }

  /** @returns reason why lines are still in memory; undefined if none are */
  async #writeHeld(): Promise<string | undefined> {
    for (const part of this.#held) {
      const failure = await this.#write(part);
      if (failure !== undefined) return failure;
      // The part may have been sent during the write.
      if (!this.#parts.includes(part)) await this.#options.disk.ask('remove', part.path).catch(() => undefined);
    }
    return undefined;
  }

  /** @returns reason for the failure; undefined on success */
  async #write(part: Part): Promise<string | undefined> {
    const { disk } = this.#options;
    const isAsked = !disk.isSilent;
    try {
      await disk.ask('writeWhole', part.path, `${(part.lines ?? []).join('\n')}\n`);
      part.lines = undefined;
      return undefined;
    } catch (error) {
      // The file may still be written, and the next start would send it again.
      if (error instanceof DiskSilent && isAsked) disk.post('remove', part.path);
      return error instanceof Error ? error.message : String(error);
    }
  }

  #drop(count: number, reason: string): void {
    this.#dropped += count;
    if (!this.#reminder.pass()) return;
    this.#options.log.warn(`request records are not sent to the collector: ${reason}; the database has them`);
  }

  #search(): void {
    if (performance.now() - this.#searchedAt < searchIntervalMs) return;
    this.#searchedAt = performance.now();
    inBackground(this.#options.log, 'searching records for the collector', async () => {
      try {
        if (await this.#findLeftovers()) this.onAdded();
      } catch (error) {
        if (!(error instanceof DiskSilent)) throw error;
      }
    });
  }

  async #findLeftovers(): Promise<boolean> {
    const { disk } = this.#options;
    const byInstance = new Map<string, Part[]>();
    for await (const entries of listFolder(disk, this.#folder)) {
      for (const { name, bytes } of entries) {
        const instance = parseSegmentName(name)?.instance;
        if (instance === undefined || instance === this.#options.instance) continue;
        const parts = byInstance.get(instance) ?? [];
        parts.push({ path: join(this.#folder, name), bytes, records: 0, lines: undefined });
        byInstance.set(instance, parts);
      }
    }
    const found: Part[] = [];
    for (const [instance, parts] of byInstance) if (await this.#watch.isDead(instance)) found.push(...parts);
    this.#parts.push(...found.toSorted((a, b) => (a.path < b.path ? -1 : 1)));
    return found.length > 0;
  }
}

function bytesOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function* inOneStep(lines: readonly string[]): AsyncGenerator<readonly string[]> {
  yield lines;
}
