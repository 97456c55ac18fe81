import { readdirSync, readFileSync } from 'node:fs';

/** What a process uses, without its children. Linux only. */
export class ProcessUsage {
  readonly processId: number;
  readonly #folder: string;
  /** µs of each thread when it was seen last: what a thread took that has ended does not vanish. */
  readonly #threads = new Map<string, number>();

  constructor(pid: number) {
    this.processId = pid;
    this.#folder = `/proc/${pid}`;
  }

  /**
   * µs of processor time since its threads began, as the scheduler counts it: `/proc/PID/stat` counts ticks of 10 ms, which
   * 500 calls take a few dozen of.
   */
  time(): number {
    for (const thread of readdirSync(`${this.#folder}/task`)) this.#threads.set(thread, this.#of(thread));
    return [...this.#threads.values()].reduce((sum, time) => sum + time, 0);
  }

  /** Bytes of memory. */
  resident(): number {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`${this.#folder}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1024;
  }

  #of(thread: string): number {
    try {
      return Number(readFileSync(`${this.#folder}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000;
    } catch {
      return this.#threads.get(thread) ?? 0;
    }
  }
}
