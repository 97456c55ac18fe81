import { readdirSync, readFileSync } from 'node:fs';

/**
 * Processor time of a process and its threads, as the scheduler counts it: `/proc/PID/stat` counts ticks of 10 ms, which 500 calls
 * take a few dozen of. Linux only.
 */
export class ProcessTime {
  readonly #folder: string;
  /** µs of each thread when it was seen last: what a thread took that has ended does not vanish. */
  readonly #threads = new Map<string, number>();

  constructor(pid: number) {
    this.#folder = `/proc/${pid}/task`;
  }

  /** µs since the threads began. */
  read(): number {
    for (const thread of readdirSync(this.#folder)) this.#threads.set(thread, this.#of(thread));
    return [...this.#threads.values()].reduce((sum, time) => sum + time, 0);
  }

  #of(thread: string): number {
    try {
      return Number(readFileSync(`${this.#folder}/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000;
    } catch {
      return this.#threads.get(thread) ?? 0;
    }
  }
}
