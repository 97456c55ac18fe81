import { join } from 'node:path';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import { type Disk, DiskUnresponsive } from './disk/contract.ts';
import { createPartPath } from './disk/files.ts';
import { listFolder } from './disk/list-folder.ts';
import { parseLockName, InstanceWatch } from './instance-lock.ts';
import { logReason } from './log-reason.ts';
import { lineStart } from './record-line.ts';
import type { JournalTrouble } from './segment-opener.ts';
import { LeftoverSegment, parsePartName, parseSegmentName, type Segment } from './segment.ts';

export interface Leftover {
  readonly instance: string;
  readonly segments: LeftoverSegment[]; // oldest first
  readonly bytes: number;
  hasShippedInterrupted: boolean;
}

interface SegmentFile {
  readonly path: string;
  readonly number: number;
  readonly bytes: number;
}

const maxLoggedObstacles = 100;

interface OpenRequest {
  readonly begin: string;
  enter: string | undefined;
}

const lineIdPattern = /^\{"at":"\w+","id":"([^"]+)"/;

export class Leftovers {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #ownInstance: string;
  readonly #log: Logger;
  readonly #watch: InstanceWatch;
  readonly #loggedReasons = new Set<string>();
  #obstacle: JournalTrouble | undefined;
  #isObstacleNew = false;

  /** @param ownInstance this instance, which is alive whatever its lock says */
  constructor(disk: Disk, folder: string, ownInstance: string, log: Logger) {
    this.#disk = disk;
    this.#folder = folder;
    this.#ownInstance = ownInstance;
    this.#log = log;
    this.#watch = new InstanceWatch(disk, folder);
  }

  async findAll(): Promise<Leftover[]> {
    if (!this.#isObstacleNew) this.#obstacle = undefined;
    this.#isObstacleNew = false;
    let files = await this.#listFiles();
    if (await this.#restoreNames(files.parts)) files = await this.#listFiles();
    const { byInstance, locked, parts } = files;
    // An instance that was killed after it had shipped everything leaves only its lock.
    for (const instance of locked)
      if (instance !== this.#ownInstance && !byInstance.has(instance) && (await this.#isDead(instance)))
        await this.removeLock(instance);
    // Closes the files opened so far if the disk stops responding during the search.
    using openSegments = new DisposableStack();
    let openCount = 0;
    const leftovers: Leftover[] = [];
    for (const [instance, segmentFiles] of byInstance) {
      // Skipped for now, because requests may have ended in a segment that has not been found yet.
      if (parts.has(instance) || !(await this.#isDead(instance))) continue;
      const segments: LeftoverSegment[] = [];
      for (const { path } of segmentFiles.toSorted((a, b) => a.number - b.number)) {
        const isKeptOpen = openCount++ < bounds.openSegments;
        segments.push(openSegments.use(await LeftoverSegment.open(this.#disk, path, isKeptOpen)));
      }
      const bytes = segmentFiles.reduce((sum, segment) => sum + segment.bytes, 0);
      leftovers.push({ instance, segments, bytes, hasShippedInterrupted: false });
    }
    openSegments.move();
    return leftovers;
  }

  removeLock(instance: string): Promise<void> {
    return this.#watch.removeLock(instance);
  }

  /** What keeps a file from being shipped or removed, as of the last search. */
  get obstacle(): JournalTrouble | undefined {
    return this.#obstacle;
  }

  /** Logs each reason once. Other files are still shipped. */
  reportObstacle(reason: string): void {
    this.#obstacle = { reason, since: this.#obstacle?.since ?? performance.now() };
    this.#isObstacleNew = true;
    if (this.#loggedReasons.has(reason) || this.#loggedReasons.size >= maxLoggedObstacles) return;
    this.#loggedReasons.add(reason);
    this.#log.error(`journal: ${reason}`);
  }

  async #restoreNames(parts: ReadonlyMap<string, readonly string[]>): Promise<boolean> {
    let isAnyDead = false;
    for (const [instance, paths] of parts) {
      if (!(await this.#isDead(instance))) continue;
      isAnyDead = true;
      for (const path of paths)
        await this.#disk.run('adopt', path).catch((error: Error) => this.#reportUnnamed(path, error));
    }
    return isAnyDead;
  }

  #reportUnnamed(path: string, error: Error): void {
    if (error instanceof DiskUnresponsive) throw error;
    this.reportObstacle(logReason('log.reason.unnamed', { path: createPartPath(path), error: error.message }));
  }

  async #listFiles() {
    const byInstance = new Map<string, SegmentFile[]>();
    const locked: string[] = [];
    const parts = new Map<string, string[]>();
    for await (const entries of listFolder(this.#disk, this.#folder)) {
      for (const { name, isFile, bytes } of entries) {
        const segment = parseSegmentName(name);
        const lock = parseLockName(name);
        const part = parsePartName(name);
        if (segment === undefined && lock === undefined && part === undefined) continue;
        const path = join(this.#folder, name);
        if (!isFile) this.reportObstacle(logReason('log.reason.no_file', { path }));
        else if (lock !== undefined) locked.push(lock);
        else if (part !== undefined && part.instance !== this.#ownInstance)
          addToList(parts, part.instance, join(this.#folder, part.segment));
        else if (segment !== undefined && segment.instance !== this.#ownInstance)
          addToList(byInstance, segment.instance, { path, number: segment.number, bytes });
      }
    }
    return { byInstance, locked, parts };
  }

  async #isDead(instance: string): Promise<boolean> {
    try {
      return await this.#watch.isDead(instance);
    } catch (error) {
      if (error instanceof DiskUnresponsive) throw error;
      this.reportObstacle(logReason('log.reason.lock', { instance, error: String(error) }));
      return false;
    }
  }
}

function addToList<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key) ?? [];
  list.push(value);
  lists.set(key, list);
}

/** Interrupted requests have a `begin` line, but no `end` or `skip`. Only requests in flight are kept in memory. */
export async function readInterruptedRecords(segments: readonly Segment[]): Promise<string[]> {
  const open = new Map<string, OpenRequest>();
  for (const segment of segments) {
    for await (const lines of segment.read()) for (const line of lines) trackLine(open, line);
  }
  return open
    .values()
    .map(({ begin, enter }) => renderInterrupted(begin, enter))
    .toArray();
}

function trackLine(open: Map<string, OpenRequest>, line: string): void {
  const id = lineIdPattern.exec(line)?.[1];
  if (id === undefined) return;
  const request = open.get(id);
  if (line.startsWith(lineStart.end) || line.startsWith(lineStart.skip)) open.delete(id);
  else if (line.startsWith(lineStart.begin)) open.set(id, { begin: line, enter: request?.enter });
  else if (request !== undefined && line.startsWith(lineStart.enter)) request.enter = line;
}

/** Turns `{"at":"begin",A}` and `{"at":"enter","id":…,B}` into `{"at":"end",A,B,"outcome":"interrupted"}`. */
function renderInterrupted(beginLine: string, enterLine: string | undefined): string {
  const enterMembers = enterLine?.slice(enterLine.indexOf(',', lineStart.enter.length), -1) ?? '';
  return `${lineStart.end}${beginLine.slice(lineStart.begin.length, -1)}${enterMembers},"outcome":"interrupted"}`;
}
