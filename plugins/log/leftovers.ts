import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Watch } from './instance-lock.ts';
import { startOf } from './record-line.ts';
import { parseSegmentName, readSegment } from './segment.ts';

/** What a dead instance has left in the folder. */
export interface Leftover {
  readonly instance: string;
  readonly paths: string[]; // oldest first
  readonly bytes: number;
  isInterruptedShipped: boolean;
}

const idOf = /^\{"at":"\w+","id":"([^"]+)"/;

/** Finds the segments of instances that are no more. */
export class Leftovers {
  readonly #folder: string;
  readonly #self: string;
  readonly #watch: Watch;

  /** @param self the instance that must not be taken for dead, whatever its lock says */
  constructor(folder: string, self: string) {
    this.#folder = folder;
    this.#self = self;
    this.#watch = new Watch(folder);
  }

  find(): Leftover[] {
    const segments = readdirSync(this.#folder).flatMap((name) => {
      const parsed = parseSegmentName(name);
      return parsed === undefined || parsed.instance === this.#self
        ? []
        : [{ ...parsed, path: join(this.#folder, name) }];
    });
    return [...Map.groupBy(segments, ({ instance }) => instance)]
      .filter(([instance]) => this.#watch.isDead(instance))
      .map(([instance, own]) => {
        const paths = own.toSorted((a, b) => a.number - b.number).map(({ path }) => path);
        return {
          instance,
          paths,
          bytes: paths.reduce((sum, path) => sum + sizeOf(path), 0),
          isInterruptedShipped: false,
        };
      });
  }

  /** Forgets an instance of which nothing is left. */
  bury(instance: string): void {
    this.#watch.bury(instance);
  }
}

/**
 * Records of the requests that were under way when the instance died: begun in one of its segments, ended in none.
 * Holds no more in memory than what was under way at any one time.
 */
export async function interruptedRecords(paths: readonly string[]): Promise<string[]> {
  const open = new Map<string, { begin: string; enter: string | undefined }>();
  for (const path of paths) {
    for await (const lines of readSegment(path)) for (const line of lines) follow(open, line);
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
  if (line.startsWith(startOf.end)) open.delete(id);
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
