import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordSpool, SpooledRecords } from '#core/gateway/records/record-spool.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
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
    this.#watch = new InstanceWatch(options.journal);
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
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      // Complete or absent: whoever finds it after a crash reads all of it.
      await writeFile(`${path}.part`, text, { mode: 0o600 });
      renameSync(`${path}.part`, path);
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
    if (this.#files.length === 0) this.#findLeftovers();
    const [file] = this.#files;
    if (file === undefined) return undefined;
    return {
      records: file.records,
      read: () => readSegment(file.path),
      remove: async () => {
        await rm(file.path, { force: true });
        if (this.#files[0] === file) this.#files.shift();
      },
    };
  }

  #findLeftovers(): void {
    if (performance.now() - this.#searchedAt < searchEvery) return;
    this.#searchedAt = performance.now();
    for (const name of namesIn(this.#folder)) {
      const instance = parseSegmentName(name)?.instance;
      if (instance === undefined || instance === this.#options.instance || !this.#watch.isDead(instance)) continue;
      const path = join(this.#folder, name);
      this.#files.push({ path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0, records: 0 });
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}
