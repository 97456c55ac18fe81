import { SlidingSlices } from './sliding-slices.ts';

export interface CallWindowOptions {
  readonly window: number; // ms
}

/** Counts calls and failures over a sliding window. Times are ms. */
export class CallWindow {
  readonly #slices: SlidingSlices<{ calls: number; failures: number }>;

  /** @param options read on each call, because a reload changes them */
  constructor(options: CallWindowOptions) {
    this.#slices = new SlidingSlices(options, () => ({ calls: 0, failures: 0 }));
  }

  countCall(now: number, isFailure: boolean): void {
    const slice = this.#slices.currentCounts(now);
    slice.calls++;
    if (isFailure) slice.failures++;
  }

  countCalls(now: number): number {
    return this.#slices.listCounts(now).reduce((sum, { calls }) => sum + calls, 0);
  }

  computeFailureRatio(now: number): number {
    const calls = this.countCalls(now);
    return calls === 0 ? 0 : this.#slices.listCounts(now).reduce((sum, { failures }) => sum + failures, 0) / calls;
  }

  clear(): void {
    this.#slices.clear();
  }
}
