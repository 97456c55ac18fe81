import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';
import { type Counts, startCounting } from './counted/counters.ts';

export interface Figures {
  readonly cpu: number; // µs of user and system time since the start
  readonly memory: number; // resident, bytes
  readonly allocated: number; // bytes allocated on the JavaScript heap since the start
  readonly old: number; // bytes in the heap's old generation, which only a full garbage collection frees
}

export interface Ready {
  readonly port: number;
  readonly key: string;
  readonly visitors?: readonly { readonly key: string; readonly cookie: string }[]; // signed-in accounts; only for the gateway
}

const { getHeapSpaceStatistics, getHeapStatistics } = v8;

/**
 * From now on, other callers get the heap statistics of this moment. Each time they are read, V8 counts the unused rest of a heap area as
 * allocated, and the memory watch reads them ten times a second. That is 20 MB/s, so a request would be charged for the time it takes.
 */
function freezeHeapStatistics(): void {
  const [heap, spaces] = [getHeapStatistics(), getHeapSpaceStatistics()];
  Object.assign(v8, { getHeapStatistics: () => heap, getHeapSpaceStatistics: () => spaces });
  syncBuiltinESMExports();
}

/** Answers each message with the figures, or with the counts since they were first requested. */
export function reportFigures(ready: Ready): void {
  let readCounts: (() => Counts) | undefined;
  process.on('message', (question) => {
    if (question === 'counts') {
      readCounts ??= startCounting();
      process.send?.(readCounts());
      return;
    }
    if (question === 'collect') globalThis.gc?.();
    // Objects that survive two collections move to the old generation.
    if (question === 'collect young') freezeHeapStatistics();
    if (question === 'collect young') for (let time = 0; time < 2; time++) void globalThis.gc?.({ type: 'minor' });
    const { user, system } = process.cpuUsage();
    const { total_allocated_bytes: allocated } = getHeapStatistics();
    const old = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
    process.send?.({ cpu: user + system, memory: process.memoryUsage.rss(), allocated, old } satisfies Figures);
  });
  process.send?.(ready);
}
