import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import { instanceOfLock, InstanceWatch } from './instance-lock.ts';
import { logReason } from './log-reason.ts';
import { startOf } from './record-line.ts';
import { LeftoverSegment, parseSegmentName, type Segment } from './segment.ts';

/** The unshipped segments of a dead instance. */
export interface Leftover {
  readonly instance: string;
  readonly segments: LeftoverSegment[]; // oldest first
  readonly bytes: number;
  isInterruptedShipped: boolean;
}

/** Obstacles that are logged. */
const maxObstacles = 100;

const idOf = /^\{"at":"\w+","id":"([^"]+)"/;

/** Why records of a dead instance wait. */
export interface LeftoverObstacle {
  readonly reason: string;
  /** On the clock of performance.now(). */
  readonly since: number;
}

/** Finds the segments of dead instances. */
export class Leftovers {
  readonly #folder: string;
  readonly #self: string;
  readonly #log: Logger;
  readonly #watch: InstanceWatch;
  /** Obstacles that are logged. */
  readonly #logged = new Set<string>();
  #obstacle: LeftoverObstacle | undefined;
  #isFoundAgain = false;

  /** @param self this instance, which is alive regardless of its lock */
  constructor(folder: string, self: string, log: Logger) {
    this.#folder = folder;
    this.#self = self;
    this.#log = log;
    this.#watch = new InstanceWatch(folder);
  }

  /** None while the folder is gone. */
  find(): Leftover[] {
    if (!this.#isFoundAgain) this.#obstacle = undefined;
    this.#isFoundAgain = false;
    const names = this.#fileNames();
    const segments = names.flatMap((name) => {
      const parsed = parseSegmentName(name);
      return parsed === undefined || parsed.instance === this.#self
        ? []
        : [{ ...parsed, path: join(this.#folder, name) }];
    });
    const byInstance = Map.groupBy(segments, ({ instance }) => instance);
    // An instance that was killed after it had shipped everything has left only its lock.
    for (const instance of names.flatMap((name) => instanceOfLock(name) ?? []))
      if (instance !== this.#self && !byInstance.has(instance) && this.#isDead(instance)) this.forget(instance);
    let held = 0; // files
    return [...byInstance]
      .filter(([instance]) => this.#isDead(instance))
      .map(([instance, own]) => {
        const paths = own.toSorted((a, b) => a.number - b.number).map(({ path }) => path);
        return {
          instance,
          segments: paths.map((path) => new LeftoverSegment(path, held++ < bounds.openSegments)),
          bytes: paths.reduce((sum, path) => sum + sizeOf(path), 0),
          isInterruptedShipped: false,
        };
      });
  }

  /** Removes an instance whose segments are all shipped. */
  forget(instance: string): void {
    this.#watch.forget(instance);
  }

  /** What keeps a file from being shipped or removed; undefined when the last search met nothing. */
  get obstacle(): LeftoverObstacle | undefined {
    return this.#obstacle;
  }

  /** Notes what keeps a file from being shipped or removed, and logs it once. The others are shipped meanwhile. */
  reportObstacle(reason: string): void {
    this.#obstacle = { reason, since: this.#obstacle?.since ?? performance.now() };
    this.#isFoundAgain = true;
    if (this.#logged.has(reason) || this.#logged.size >= maxObstacles) return;
    this.#logged.add(reason);
    this.#log.error(`in the journal, ${reason}`);
  }

  #fileNames(): string[] {
    return this.#entries().flatMap((entry) => {
      if (entry.isFile()) return entry.name;
      const isInTheWay = parseSegmentName(entry.name) !== undefined || instanceOfLock(entry.name) !== undefined;
      if (isInTheWay) this.reportObstacle(logReason('log.reason.no_file', { path: join(this.#folder, entry.name) }));
      return [];
    });
  }

  #entries(): Dirent[] {
    try {
      return readdirSync(this.#folder, { withFileTypes: true });
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
      throw error;
    }
  }

  #isDead(instance: string): boolean {
    try {
      return this.#watch.isDead(instance);
    } catch (error) {
      this.reportObstacle(logReason('log.reason.lock', { instance, error: String(error) }));
      return false;
    }
  }
}

/**
 * Returns records of the requests that were in flight when the instance died: those with a `begin` line and neither `end` nor `skip`.
 * Keeps only the requests in flight in memory.
 */
export async function interruptedRecords(segments: readonly Segment[]): Promise<string[]> {
  const open = new Map<string, { begin: string; enter: string | undefined }>();
  for (const segment of segments) {
    for await (const lines of segment.read()) for (const line of lines) follow(open, line);
  }
  return open
    .values()
    .map(({ begin, enter }) => interruptedRecord(begin, enter))
    .toArray();
}

function follow(open: Map<string, { begin: string; enter: string | undefined }>, line: string): void {
  const id = idOf.exec(line)?.[1];
  if (id === undefined) return;
  const known = open.get(id);
  if (line.startsWith(startOf.end) || line.startsWith(startOf.skip)) open.delete(id);
  else if (line.startsWith(startOf.begin)) open.set(id, { begin: line, enter: known?.enter });
  else if (known !== undefined && line.startsWith(startOf.enter)) known.enter = line;
}

/** `{"at":"begin",A}` and `{"at":"enter","id":…,B}` → `{"at":"end",A,B,"outcome":"interrupted"}` */
function interruptedRecord(begin: string, enter: string | undefined): string {
  const entered = enter === undefined ? '' : enter.slice(enter.indexOf(',', startOf.enter.length), -1);
  return `${startOf.end}${begin.slice(startOf.begin.length, -1)}${entered},"outcome":"interrupted"}`;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
