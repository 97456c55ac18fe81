/** Answers of which a route must have given some before it can be told that it has become slow. */
const minimumSamples = 20;
/** How much slower than it used to be makes a route slow, and the least that counts as slow at all. */
const factor = 10;
const leastTime = 2_000; // ms

/**
 * What a route's speed used to be. A route that answers, but ten times slower than before, is as good as broken to
 * those who wait for it.
 */
export class Pace {
  #samples = 0;
  #firstContent = 0; // ms, moving average
  #rate = 0; // tokens a second, moving average

  /**
   * @param firstContentAfter ms from sending to the first content
   * @param rate tokens a second afterwards; undefined for answers too short to tell
   * @returns why this answer was slow for this route; undefined when it was not
   */
  observe(firstContentAfter: number, rate: number | undefined): string | undefined {
    const reason = this.#samples < minimumSamples ? undefined : this.#slowness(firstContentAfter, rate);
    this.#samples++;
    // What is slow does not become the measure of what is slow.
    if (reason === undefined) this.#learn(firstContentAfter, rate);
    return reason;
  }

  #slowness(firstContentAfter: number, rate: number | undefined): string | undefined {
    const limit = Math.max(leastTime, this.#firstContent * factor);
    if (firstContentAfter > limit) return `first content after ${(firstContentAfter / 1000).toFixed(1)} s`;
    if (rate !== undefined && this.#rate > 0 && rate < this.#rate / factor) return `${rate.toFixed(1)} tokens a second`;
    return undefined;
  }

  #learn(firstContentAfter: number, rate: number | undefined): void {
    const share = this.#samples <= minimumSamples ? 1 / this.#samples : 1 / minimumSamples;
    this.#firstContent += (firstContentAfter - this.#firstContent) * share;
    if (rate !== undefined) this.#rate += (rate - this.#rate) * (this.#rate === 0 ? 1 : share);
  }
}
