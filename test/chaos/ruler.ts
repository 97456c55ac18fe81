import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Figure } from './figure.ts';

/** What the ruler's own server took for the same small piece of work again and again, in ms. */
export interface RulerReading {
  /** The fastest of the whole run: what the machine can do. */
  readonly best: number;
  readonly median: number;
  readonly p99: number;
  /** Median of the processor time of the work, as a multiple of the least: other processes share caches and the machine's clock. */
  readonly slowness: number;
  readonly count: number;
}

export type Verdict = 'met' | 'missed' | 'not measured';

/** Part of a figure's limit that the ruler may take itself, and how much slower than its best it may be. */
const tolerated = { share: 1 / 4, elapsed: 3, processor: 1.3 };
/** Readings without which a machine is not called too slow. */
const leastReadings = 10;

/**
 * A timed figure that is missed is not measured where the ruler was slow in the same seconds. Figures that count have no limit in ms,
 * and nothing excuses them.
 */
export function judge({ isMet, limit }: Pick<Figure, 'isMet' | 'limit'>, reading: RulerReading): Verdict {
  if (isMet) return 'met';
  return limit !== undefined && reading.count >= leastReadings && isTooSlow(limit, reading) ? 'not measured' : 'missed';
}

function isTooSlow({ ms, of }: NonNullable<Figure['limit']>, { best, median, p99, slowness }: RulerReading): boolean {
  if (of === 'processor') return slowness > tolerated.processor;
  return p99 > ms * tolerated.share || median > best * tolerated.elapsed;
}

/** One line. */
export function describeReading({ best, median, p99, slowness, count }: RulerReading): string {
  const [fastest, usual, slow, more] = [best, median, p99, slowness].map((value) => value.toFixed(1));
  return `ruler: median ${usual} ms, p99 ${slow} ms, best ${fastest} ms, processor time ${more} × of ${count}`;
}

/** Of one request: ms that it took, and the processor time of its work. */
interface Sample {
  readonly at: number; // on the clock of performance.now() of this process
  readonly took: number;
  readonly worked: number;
}

/** A process beside the gateways, with a bare server of its own that is asked all the time. */
export class Ruler implements Disposable {
  readonly #process: ChildProcess;
  readonly #samples: Sample[] = [];

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.on('message', (sample: Omit<Sample, 'at'>) => this.#samples.push({ at: performance.now(), ...sample }));
  }

  /** @returns once it has measured */
  static async start(): Promise<Ruler> {
    const child = fork(new URL('ruler-process.ts', import.meta.url), { execArgv: [] });
    const ruler = new Ruler(child);
    await once(child, 'message');
    return ruler;
  }

  /** What it measured since then, on the clock of performance.now(). */
  readSince(began: number): RulerReading {
    return summarize(
      this.#samples.filter((sample) => sample.at >= began),
      this.#samples,
    );
  }

  [Symbol.dispose](): void {
    this.#process.kill('SIGKILL');
  }
}

/** @param all of the whole run, which have the best */
export function summarize(taken: readonly Omit<Sample, 'at'>[], all = taken): RulerReading {
  const took = taken.map((sample) => sample.took).toSorted((a, b) => a - b);
  const worked = taken.map((sample) => sample.worked).toSorted((a, b) => a - b);
  return {
    best: Math.min(...all.map((sample) => sample.took)),
    median: at(took, 0.5),
    p99: at(took, 0.99),
    slowness: at(worked, 0.5) / Math.min(...all.map((sample) => sample.worked)),
    count: taken.length,
  };
}

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
