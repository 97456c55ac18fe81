import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';
import { type Counts, startCounting } from './counted/counters.ts';

/** The figures that a measured process reports to the benchmark. */
export interface Figures {
  readonly cpu: number; // µs of user and system time since the start
  readonly memory: number; // resident bytes
  readonly allocated: number; // bytes on the JavaScript heap since the start
  readonly old: number; // bytes in its old generation, which only a full collection of garbage frees
}

export interface Ready {
  readonly port: number;
  readonly key: string;
  /** Accounts that are signed in; of the gateway only. */
  readonly visitors?: readonly { readonly key: string; readonly cookie: string }[];
}

const { getHeapSpaceStatistics, getHeapStatistics } = v8;

/**
 * Gives others the heap's statistics of now from here on. V8 counts what is left of an area of its heap as allocated when somebody asks
 * for them, and the watch over memory asks ten times a second: 20 MB/s, so that a request would be charged for the time that it takes.
 */
function freezeHeapStatistics(): void {
  const [heap, spaces] = [getHeapStatistics(), getHeapSpaceStatistics()];
  Object.assign(v8, { getHeapStatistics: () => heap, getHeapSpaceStatistics: () => spaces });
  syncBuiltinESMExports();
}

/** Reports the port and key of this process, then answers each message with its figures, or with counts since it was asked for the first. */
export function reportFigures(ready: Ready): void {
  let readCounts: (() => Counts) | undefined;
  process.on('message', (question) => {
    if (question === 'counts') {
      readCounts ??= startCounting();
      process.send?.(readCounts());
      return;
    }
    if (question === 'collect') globalThis.gc?.();
    // What survives twice gets into the old generation.
    if (question === 'collect young') freezeHeapStatistics();
    if (question === 'collect young') for (let time = 0; time < 2; time++) void globalThis.gc?.({ type: 'minor' });
    const { user, system } = process.cpuUsage();
    const { total_allocated_bytes: allocated } = getHeapStatistics();
    const old = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
    process.send?.({ cpu: user + system, memory: process.memoryUsage.rss(), allocated, old } satisfies Figures);
  });
  process.send?.(ready);
}
