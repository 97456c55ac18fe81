const slices = 6;

/** Counts over a sliding window, in slices of it. Times are ms. */
export class SlidingSlices<Counts> {
  readonly #options: { readonly window: number };
  readonly #create: () => Counts;
  readonly #slices: { readonly begin: number; readonly counts: Counts }[] = [];

  /** @param options may change @param create counts of nothing */
  constructor(options: { readonly window: number }, create: () => Counts) {
    this.#options = options;
    this.#create = create;
  }

  /** The current slice. */
  current(now: number): Counts {
    this.#dropOld(now);
    const last = this.#slices.at(-1);
    if (last !== undefined && now - last.begin < this.#options.window / slices) return last.counts;
    const slice = { begin: now, counts: this.#create() };
    this.#slices.push(slice);
    return slice.counts;
  }

  /** All counts of the window. */
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
