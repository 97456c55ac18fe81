import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Ms of one tick in /proc/PID/stat, which Linux fixes at a hundredth of a second for programs. */
const tick = 10;

/** A process and its descendants, as Linux counts them. Empty once it has ended. */
export class ProcessTree {
  readonly #root: number;
  readonly #isAlone: boolean;

  /**
   * @param pid of the root
   * @param isAlone without its descendants
   */
  constructor(pid: number, isAlone = false) {
    this.#root = pid;
    this.#isAlone = isAlone;
  }

  /** µs of user and system time of the processes that run. */
  get cpu(): number {
    return sum(this.pids, (pid) => {
      // The name, in parentheses, may contain spaces.
      const fields = read(pid, 'stat')
        .replace(/^.*\) /s, '')
        .split(' ');
      return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tick * 1000;
    });
  }

  /** Resident bytes at the peak since `resetPeak`. Pages that processes share count for each. */
  get peak(): number {
    return sum(this.pids, (pid) => Number(/VmHWM:\s+(\d+) kB/.exec(read(pid, 'status'))?.[1] ?? 0) * 1024);
  }

  resetPeak(): void {
    for (const pid of this.pids) writeFileSync(`/proc/${pid}/clear_refs`, '5');
  }

  /** Ids of the processes, the root first. */
  get pids(): number[] {
    if (this.#isAlone) return [this.#root];
    const parents = new Map<number, number>();
    for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)))
      parents.set(Number(name), Number(/^PPid:\s+(\d+)$/m.exec(read(Number(name), 'status'))?.[1]));
    const tree = [this.#root];
    for (const parent of tree) for (const [pid, own] of parents) if (own === parent) tree.push(pid);
    return tree;
  }
}

/** Empty for a process that has ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + of(pid), 0);
}
