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

  /** What the process has already allocated, and the children it already has, stay outside. */
  add(pid: number): void {
    writeFileSync(join(this.#folder, 'cgroup.procs'), String(pid));
  }

  /** Prefix for another command, whose process is then in the group from the beginning. */
  get launcher(): readonly string[] {
    return ['sh', '-c', `echo $$ > ${join(this.#folder, 'cgroup.procs')} && exec "$@"`, 'sh'];
  }

  get memberPids(): number[] {
    return readFileSync(join(this.#folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  }

  get peakBytes(): number {
    return Number(readFileSync(join(this.#folder, 'memory.max_usage_in_bytes'), 'utf8'));
  }

  get oomKills(): number {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync(join(this.#folder, 'memory.oom_control'), 'utf8'))?.[1] ?? 0);
  }

  /** Also kills processes that are left over, such as a PostgreSQL whose gateway was killed. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (let members = this.memberPids; members.length > 0; members = this.memberPids) {
      for (const pid of members) process.kill(pid, 'SIGKILL');
      await sleep(100);
    }
    rmdirSync(this.#folder);
  }
}
