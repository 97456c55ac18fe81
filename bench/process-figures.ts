import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
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
    if (question === 'collect young') for (let time = 0; time < 2; time++) void globalThis.gc?.({ type: 'minor' });
    const { user, system } = process.cpuUsage();
    const { total_allocated_bytes: allocated } = getHeapStatistics();
    const old = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
    process.send?.({ cpu: user + system, memory: process.memoryUsage.rss(), allocated, old } satisfies Figures);
  });
  process.send?.(ready);
}
