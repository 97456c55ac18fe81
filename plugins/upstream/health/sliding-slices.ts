const sliceCount = 6;

/** Counts over a sliding window that is divided into slices. Times are ms. */
export class SlidingSlices<Counts> {
  readonly #options: { readonly window: number };
  readonly #create: () => Counts;
  readonly #slices: { readonly begin: number; readonly counts: Counts }[] = [];

  /**
   * @param options read on each call, since a reload changes them
   * @param create creates zero counts
   */
  constructor(options: { readonly window: number }, create: () => Counts) {
    this.#options = options;
    this.#create = create;
  }

  /** Counts of the current slice. */
  current(now: number): Counts {
    this.#dropOld(now);
    const last = this.#slices.at(-1);
    if (last !== undefined && now - last.begin < this.#options.window / sliceCount) return last.counts;
    const slice = { begin: now, counts: this.#create() };
    this.#slices.push(slice);
    return slice.counts;
  }

  /** Counts of all slices in the window. */
  all(now: number): Counts[] {
    this.#dropOld(now);
    return this.#slices.map(({ counts }) => counts);
  }

  clear(): void {
    this.#slices.length = 0;
  }

  #dropOld(now: number): void {
    while (this.#slices[0] !== undefined && now - this.#slices[0].begin >= this.#options.window) this.#slices.shift();
  }
}
