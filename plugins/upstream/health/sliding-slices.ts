const sliceCount = 6;

/** Counts over a sliding window, which is divided into slices. Times are ms. */
export class SlidingSlices<Counts> {
  readonly #options: { readonly window: number };
  readonly #createCounts: () => Counts;
  readonly #slices: { readonly startedAt: number; readonly counts: Counts }[] = [];

  /** @param options read on each call, because a reload changes them */
  constructor(options: { readonly window: number }, createCounts: () => Counts) {
    this.#options = options;
    this.#createCounts = createCounts;
  }

  /** Returns the counts of the current slice, which the caller updates. */
  currentCounts(now: number): Counts {
    this.#dropExpired(now);
    const last = this.#slices.at(-1);
    if (last !== undefined && now - last.startedAt < this.#options.window / sliceCount) return last.counts;
    const slice = { startedAt: now, counts: this.#createCounts() };
    this.#slices.push(slice);
    return slice.counts;
  }

  listCounts(now: number): Counts[] {
    this.#dropExpired(now);
    return this.#slices.map(({ counts }) => counts);
  }

  clear(): void {
    this.#slices.length = 0;
  }

  #dropExpired(now: number): void {
    while (this.#slices[0] !== undefined && now - this.#slices[0].startedAt >= this.#options.window)
      this.#slices.shift();
  }
}
