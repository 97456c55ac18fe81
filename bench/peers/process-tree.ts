import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const tickMs = 10; // in /proc/PID/stat; Linux fixes it at a hundredth of a second for programs

/** A process and its descendants, as Linux accounts for them. Empty once the process has ended. */
export class ProcessTree {
  readonly #root: number;
  readonly #isAlone: boolean;

  /** @param isAlone true to leave out the descendants */
  constructor(pid: number, isAlone = false) {
    this.#root = pid;
    this.#isAlone = isAlone;
  }

  /** User and system time of the processes that are still running. */
  get cpuUs(): number {
    return sum(this.pids, (pid) => {
      // The name, in parentheses, may contain spaces.
      const fields = readProcessFile(pid, 'stat')
        .replace(/^.*\) /s, '')
        .split(' ');
      return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tickMs * 1000;
    });
  }

  /** The peak since `resetPeak`. Pages shared by several processes count for each of them. */
  get peakBytes(): number {
    return sum(this.pids, (pid) => Number(/VmHWM:\s+(\d+) kB/.exec(readProcessFile(pid, 'status'))?.[1] ?? 0) * 1024);
  }

  resetPeak(): void {
    for (const pid of this.pids) writeFileSync(`/proc/${pid}/clear_refs`, '5');
  }

  get pids(): number[] {
    if (this.#isAlone) return [this.#root];
    const parents = new Map<number, number>();
    for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)))
      parents.set(Number(name), Number(/^PPid:\s+(\d+)$/m.exec(readProcessFile(Number(name), 'status'))?.[1]));
    const tree = [this.#root];
    for (const parent of tree) for (const [pid, own] of parents) if (own === parent) tree.push(pid);
    return tree;
  }
}

function readProcessFile(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + of(pid), 0);
}
