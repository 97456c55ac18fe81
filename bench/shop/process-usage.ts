import { readdirSync, readFileSync } from 'node:fs';

/** The resources that a process uses, without its children. Linux only. */
export class ProcessUsage {
  readonly processId: number;
  readonly #folder: string;
  readonly #threads = new Map<string, number>(); // µs when last seen, so that the time of threads that have ended is not lost

  constructor(pid: number) {
    this.processId = pid;
    this.#folder = `/proc/${pid}`;
  }

  /** Reads the scheduler's time: `/proc/PID/stat` counts ticks of 10 ms, of which 500 calls take only a few dozen. */
  timeUs(): number {
    for (const thread of readdirSync(`${this.#folder}/task`)) this.#threads.set(thread, this.#of(thread));
    return [...this.#threads.values()].reduce((sum, time) => sum + time, 0);
  }

  residentBytes(): number {
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
