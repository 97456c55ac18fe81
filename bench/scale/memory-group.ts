import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const controller = '/sys/fs/cgroup/memory';

/** A control group (version 1) that limits the memory of processes, including their page cache, and gives them no swap. Needs root. */
export class MemoryGroup implements AsyncDisposable {
  readonly #folder: string;

  /** @throws Error if not root, or with version 2 of control groups */
  constructor(name: string, bytes: number) {
    this.#folder = join(controller, name);
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(join(this.#folder, 'memory.limit_in_bytes'), String(bytes));
    writeFileSync(join(this.#folder, 'memory.swappiness'), '0');
  }

  /** Moves a process into the group. What it has already allocated, and the children it already has, stay outside. */
  add(pid: number): void {
    writeFileSync(join(this.#folder, 'cgroup.procs'), String(pid));
  }

  /** Command to put in front of another one, so that its process is in the group from the start. */
  get launcher(): readonly string[] {
    return ['sh', '-c', `echo $$ > ${join(this.#folder, 'cgroup.procs')} && exec "$@"`, 'sh'];
  }

  /** Process ids of the members. */
  get members(): number[] {
    return readFileSync(join(this.#folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  }

  /** Peak bytes. */
  get peak(): number {
    return Number(readFileSync(join(this.#folder, 'memory.max_usage_in_bytes'), 'utf8'));
  }

  /** How many processes were killed because the group ran out of memory. */
  get killed(): number {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync(join(this.#folder, 'memory.oom_control'), 'utf8'))?.[1] ?? 0);
  }

  /** Kills the remaining members, such as a PostgreSQL whose gateway was killed. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (let members = this.members; members.length > 0; members = this.members) {
      for (const pid of members) process.kill(pid, 'SIGKILL');
      await sleep(100);
    }
    rmdirSync(this.#folder);
  }
}
