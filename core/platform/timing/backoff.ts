import { wait } from './wait.ts';

interface BackoffRange {
  readonly min: number;
  readonly max: number;
}

/** Returns the delay after this many earlier failures: the first delay, doubled for each failure, up to the maximum. */
export function exponentialDelay({ min, max }: BackoffRange, failures: number): number {
  return Math.min(max, min * 2 ** failures);
}

/** Returns the exponential delay, randomly reduced by up to half, so that many instances do not retry at the same moment. */
export function jitteredDelay(range: BackoffRange, failures: number, random: () => number = Math.random): number {
  return exponentialDelay(range, failures) * (0.5 + random() / 2);
}

/** Jittered delays between retries of one operation. */
export class Backoff {
  readonly #range: BackoffRange;
  #failures = 0;

  constructor(range: BackoffRange) {
    this.#range = range;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Returns the ms until the next retry, and counts a failure. */
  next(): number {
    return jitteredDelay(this.#range, this.#failures++);
  }

  async wait(signal: AbortSignal): Promise<void> {
    await wait(this.next(), signal);
  }

  /** Call it after a success. */
  reset(): void {
    this.#failures = 0;
  }
}

/** Delays (ms) of background work that must eventually succeed. */
export const backgroundRangeMs = { min: 500, max: 30_000 };

interface RetryOptions {
  readonly range?: BackoffRange; // default: `backgroundRangeMs`
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown, failures: number) => void;
}

/** Calls `work` until it succeeds. Returns undefined once the signal has aborted. */
export async function retryUntilDone<T>(
  work: () => Promise<T>,
  { range = backgroundRangeMs, signal, onFailure }: RetryOptions,
): Promise<T | undefined> {
  const backoff = new Backoff(range);
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return undefined;
      onFailure(error, backoff.failures);
    }
    await backoff.wait(signal);
  }
  return undefined;
}
