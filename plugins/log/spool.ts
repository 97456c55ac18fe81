import { join } from 'node:path';
import type { RecordSpool, SpooledRecords } from '#core/gateway/records/record-spool.ts';
import { inBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { type Disk, DiskSilent } from './disk/disk.ts';
import { InstanceWatch } from './instance-lock.ts';
import { parseSegmentName, readSegment, segmentName } from './segment.ts';

/** Ms between two searches for what dead instances have left. */
const searchEvery = 10_000;
/** Ms between two log lines about records that are not kept. */
const remindEvery = 60_000;

interface SpoolFile {
  readonly path: string;
  readonly bytes: number;
  /** 0 for those of a dead instance, which are not counted again. */
  readonly records: number;
}

export interface SpoolOptions {
  readonly disk: Disk;
  /** Of the journal, with the locks of its instances. */
  readonly journal: string;
  readonly instance: string;
  readonly maxBytes: number;
  readonly log: Logger;
}

/** Files beside the journal, each with lines that the database has committed. Instances that share the folder send their own. */
export class FileSpool implements RecordSpool {
  onAdded: () => void = () => {};
  readonly #folder: string;
  readonly #options: SpoolOptions;
  readonly #watch: InstanceWatch;
  readonly #files: SpoolFile[] = [];
  readonly #reminder = new Throttle(remindEvery);
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
    return this.#files.reduce((sum, { records }) => sum + records, 0);
  }

  /** Keeps lines. Never rejects: the journal must not wait for what only the collector wants. */
  async add(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    try {
      const text = `${lines.join('\n')}\n`;
      const waiting = this.#files.reduce((sum, { bytes }) => sum + bytes, 0);
      if (waiting + text.length > this.#options.maxBytes)
        throw new Error(`${this.#options.maxBytes} bytes wait for the collector already`);
      const path = join(this.#folder, segmentName(this.#options.instance, this.#number++));
      await this.#options.disk.ask('writeWhole', path, text);
      this.#files.push({ path, bytes: text.length, records: lines.length });
      this.onAdded();
    } catch (error) {
      this.#dropped += lines.length;
      if (!this.#reminder.pass()) return;
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log.warn(`request records are not sent to the collector: ${reason}; the database has them`);
    }
  }

  oldest(): SpooledRecords | undefined {
    if (this.#files.length === 0) this.#search();
    const [file] = this.#files;
    if (file === undefined) return undefined;
    const { disk } = this.#options;
    return {
      records: file.records,
      read: () => readSegment(disk, file.path),
      remove: async () => {
        await disk.ask('remove', file.path);
        if (this.#files[0] === file) this.#files.shift();
      },
    };
  }

  /** Tells when it has found something. */
  #search(): void {
    if (performance.now() - this.#searchedAt < searchEvery) return;
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
    const { disk, instance: self } = this.#options;
    const found = await disk.ask('list', this.#folder);
    const before = this.#files.length;
    for (const { name, bytes } of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const instance = parseSegmentName(name)?.instance;
      if (instance === undefined || instance === self || !(await this.#watch.isDead(instance))) continue;
      this.#files.push({ path: join(this.#folder, name), bytes, records: 0 });
    }
    return this.#files.length > before;
  }
}
