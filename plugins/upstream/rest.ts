/** Ms of the first rest and of the longest. */
const firstRest = 60_000;
const longestRest = 3_600_000;

/** A pause that is twice as long each time, until it is forgotten. Times are epoch ms. */
export class Rest {
  #until = 0;
  #times = 0;
  #reason: string | undefined;

  /** When it is over; in the past when there is none. */
  get until(): number {
    return this.#until;
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  /** @returns false when it rests already: those that were under way do not make it longer */
  begin(now: number, reason: string): boolean {
    if (now < this.#until) return false;
    this.#until = now + Math.min(longestRest, firstRest * 2 ** this.#times);
    this.#times++;
    this.#reason = reason;
    return true;
  }

  forget(): void {
    this.#until = 0;
    this.#times = 0;
  }
}
