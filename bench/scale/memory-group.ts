import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const controller = '/sys/fs/cgroup/memory';

/** A control group (version 1) that limits the memory of processes, their page cache included, and gives them no swap. Needs root. */
export class MemoryGroup implements Disposable {
  readonly #folder: string;

  /** @throws Error without root or with version 2 of control groups */
  constructor(name: string, bytes: number) {
    this.#folder = join(controller, name);
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(join(this.#folder, 'memory.limit_in_bytes'), String(bytes));
    writeFileSync(join(this.#folder, 'memory.swappiness'), '0');
  }

  /** Runs this while the own process is a member, so that the processes it starts are members for good. */
  async run<T>(start: () => Promise<T>): Promise<T> {
    const own = /^\d+:memory:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';
    enter(this.#folder);
    try {
      return await start();
    } finally {
      enter(join(controller, own));
    }
  }

  /** Bytes at the peak. */
  get peak(): number {
    return Number(readFileSync(join(this.#folder, 'memory.max_usage_in_bytes'), 'utf8'));
  }

  /** Processes that were killed because the group had no memory left. */
  get killed(): number {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync(join(this.#folder, 'memory.oom_control'), 'utf8'))?.[1] ?? 0);
  }

  [Symbol.dispose](): void {
    try {
      rmdirSync(this.#folder);
    } catch {
      // A member still runs.
    }
  }
}

function enter(folder: string): void {
  writeFileSync(join(folder, 'cgroup.procs'), String(process.pid));
}
