import { join } from 'node:path';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import { type Disk, DiskSilent } from './disk/contract.ts';
import { listFolder } from './disk/list-folder.ts';
import { partOf } from './disk/files.ts';
import { instanceOfLock, InstanceWatch } from './instance-lock.ts';
import { logReason } from './log-reason.ts';
import { startOf } from './record-line.ts';
import { LeftoverSegment, parsePartName, parseSegmentName, type Segment } from './segment.ts';

/** The unshipped segments of a dead instance. */
export interface Leftover {
  readonly instance: string;
  readonly segments: LeftoverSegment[]; // oldest first
  readonly bytes: number;
  isInterruptedShipped: boolean;
}

interface FoundSegment {
  readonly path: string;
  readonly number: number;
  readonly bytes: number;
}

const maxLoggedObstacles = 100;

const idOf = /^\{"at":"\w+","id":"([^"]+)"/;

interface LeftoverObstacle {
  readonly reason: string;
  readonly since: number; // performance.now()
}

/** Finds the segments of dead instances. */
export class Leftovers {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #self: string;
  readonly #log: Logger;
  readonly #watch: InstanceWatch;
  readonly #logged = new Set<string>();
  #obstacle: LeftoverObstacle | undefined;
  #isFoundAgain = false;

  /** @param self this instance, which is alive regardless of its lock */
  constructor(disk: Disk, folder: string, self: string, log: Logger) {
    this.#disk = disk;
    this.#folder = folder;
    this.#self = self;
    this.#log = log;
    this.#watch = new InstanceWatch(disk, folder);
  }

  /** Finds leftovers; none while the folder is gone. @throws DiskSilent */
  async find(): Promise<Leftover[]> {
    if (!this.#isFoundAgain) this.#obstacle = undefined;
    this.#isFoundAgain = false;
    let files = await this.#files();
    if (await this.#adopt(files.parts)) files = await this.#files();
    const { byInstance, locked, parts } = files;
    // An instance that was killed after it had shipped all segments has left only its lock.
    for (const instance of locked)
      if (instance !== this.#self && !byInstance.has(instance) && (await this.#isDead(instance)))
        await this.forget(instance);
    // Closes the opened files if the disk stops answering during the search.
    using opened = new DisposableStack();
    let held = 0; // files
    const found: Leftover[] = [];
    for (const [instance, own] of byInstance) {
      // Skipped for now: requests may have ended in a segment that is not found yet.
      if (parts.has(instance) || !(await this.#isDead(instance))) continue;
      const left: LeftoverSegment[] = [];
      for (const { path } of own.toSorted((a, b) => a.number - b.number))
        left.push(opened.use(await LeftoverSegment.find(this.#disk, path, held++ < bounds.openSegments)));
      const bytes = own.reduce((sum, segment) => sum + segment.bytes, 0);
      found.push({ instance, segments: left, bytes, isInterruptedShipped: false });
    }
    opened.move();
    return found;
  }

  /** Removes an instance whose segments are all shipped. */
  forget(instance: string): Promise<void> {
    return this.#watch.forget(instance);
  }

  /** Obstacle to shipping or removing a file; undefined if the last search had none. */
  get obstacle(): LeftoverObstacle | undefined {
    return this.#obstacle;
  }

  /** Notes the obstacle to shipping or removing a file, and logs it once. Other files are still shipped. */
  reportObstacle(reason: string): void {
    this.#obstacle = { reason, since: this.#obstacle?.since ?? performance.now() };
    this.#isFoundAgain = true;
    if (this.#logged.has(reason) || this.#logged.size >= maxLoggedObstacles) return;
    this.#logged.add(reason);
    this.#log.error(`in the journal, ${reason}`);
  }

  /** Restores the names of files that dead instances were rewriting. @returns true if there were any */
  async #adopt(parts: ReadonlyMap<string, readonly string[]>): Promise<boolean> {
    let isAnyDead = false;
    for (const [instance, paths] of parts) {
      if (!(await this.#isDead(instance))) continue;
      isAnyDead = true;
      for (const path of paths)
        await this.#disk.ask('adopt', path).catch((error: Error) => this.#noteUnnamed(path, error));
    }
    return isAnyDead;
  }

  #noteUnnamed(path: string, error: Error): void {
    if (error instanceof DiskSilent) throw error;
    this.reportObstacle(logReason('log.reason.unnamed', { path: partOf(path), error: error.message }));
  }

  async #files() {
    const byInstance = new Map<string, FoundSegment[]>();
    const locked: string[] = [];
    const parts = new Map<string, string[]>();
    for await (const entries of listFolder(this.#disk, this.#folder)) {
      for (const { name, isFile, bytes } of entries) {
        const segment = parseSegmentName(name);
        const lock = instanceOfLock(name);
        const part = parsePartName(name);
        if (segment === undefined && lock === undefined && part === undefined) continue;
        const path = join(this.#folder, name);
        if (!isFile) this.reportObstacle(logReason('log.reason.no_file', { path }));
        else if (lock !== undefined) locked.push(lock);
        else if (part !== undefined && part.instance !== this.#self)
          addTo(parts, part.instance, join(this.#folder, part.segment));
        else if (segment !== undefined && segment.instance !== this.#self)
          addTo(byInstance, segment.instance, { path, number: segment.number, bytes });
      }
    }
    return { byInstance, locked, parts };
  }

  async #isDead(instance: string): Promise<boolean> {
    try {
      return await this.#watch.isDead(instance);
    } catch (error) {
      if (error instanceof DiskSilent) throw error;
      this.reportObstacle(logReason('log.reason.lock', { instance, error: String(error) }));
      return false;
    }
  }
}

function addTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key) ?? [];
  list.push(value);
  lists.set(key, list);
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
