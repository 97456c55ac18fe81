import { eventLoopUtilization } from 'node:perf_hooks';

/** Renderings at the same time: requests need the connections to the database more. */
const concurrency = 2;

/** Share of the time that the event loop works, over which pages yield to requests. */
const busy = 0.5;
/** Ms between two renderings of one view: usually, and on a loop that is fully busy. */
const intervals = { usual: 1_000, longest: 5_000 };

/** Runs renderings, few at a time, in the order in which they were asked for. */
export class RenderQueue {
  readonly #waiting = new Set<() => Promise<void>>();
  #running = 0;

  /** @param work is in the queue once, however often it is added; never rejects */
  add(work: () => Promise<void>): void {
    this.#waiting.add(work);
    this.#next();
  }

  #next(): void {
    const [work] = this.#waiting;
    if (work === undefined || this.#running >= concurrency) return;
    this.#waiting.delete(work);
    this.#running++;
    void work().finally(() => {
      this.#running--;
      this.#next();
    });
  }
}

/** How long views wait between two renderings. */
export interface RenderPace {
  readonly interval: number; // ms
  /** Looks at what the process has done since the last call. */
  adapt(): void;
}

/** Views wait longer while the process is busy with requests. */
export class YieldingPace implements RenderPace {
  #last = eventLoopUtilization();
  #interval: number = intervals.usual;

  get interval(): number {
    return this.#interval;
  }

  adapt(): void {
    const now = eventLoopUtilization();
    this.#interval = intervalFor(eventLoopUtilization(now, this.#last).utilization);
    this.#last = now;
  }
}

/** @param utilization of the event loop, 0 to 1 @returns ms */
export function intervalFor(utilization: number): number {
  const excess = Math.max(0, Math.min(1, (utilization - busy) / (1 - busy)));
  return intervals.usual + excess * (intervals.longest - intervals.usual);
}
