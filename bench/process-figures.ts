import { getHeapStatistics } from 'node:v8';
import { type Counts, startCounting } from './counted/counters.ts';

/** The figures that a measured process reports to the benchmark. */
export interface Figures {
  readonly cpu: number; // µs of user and system time since the start
  readonly memory: number; // resident bytes
  readonly allocated: number; // bytes on the JavaScript heap since the start
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
    const { user, system } = process.cpuUsage();
    const { total_allocated_bytes: allocated } = getHeapStatistics();
    process.send?.({ cpu: user + system, memory: process.memoryUsage.rss(), allocated } satisfies Figures);
  });
  process.send?.(ready);
}
