/** Answers of which a route must have given some before it can be told that it has become slow. */
const minimumSamples = 20;
/** How much slower than it used to be makes a route slow, and the least that counts as slow at all. */
const factor = 10;
const leastTime = 2_000; // ms
/** Tokens below which an answer is too short to tell a rate. */
const leastTokens = 50;
/** What comes within so many ms was written before and kept somewhere: how fast, the way it came does not tell. */
const burst = 500;
/**
 * Tokens a second that a route is taken for at most. Whole answers, answers from a cache and hidden thoughts come at
 * thousands; a tenth of this is what any answer of a sound route reaches.
 */
const fastest = 200;

/** What an answer has shown of its route. */
export interface Timing {
  readonly firstContentAfter: number; // ms since it was sent
  readonly duration: number; // ms from sending to the end
  /** Undefined where it cannot be told. */
  readonly tokens: number | undefined;
}

/** What a route's speed used to be. */
export interface UsualThroughput {
  readonly samples: number;
  readonly firstContent: number; // ms, moving average
  readonly rate: number; // tokens a second, moving average; 0 before there is one
}

/**
 * What a route's speed used to be. A route that answers, but ten times slower than before, is as good as broken to
 * those who wait for it.
 */
export class Throughput {
  #samples = 0;
  #firstContent = 0; // ms, moving average
  #rate = 0; // tokens a second, moving average

  /** @returns why this answer was slow for this route; undefined when it was not */
  observe(timing: Timing): string | undefined {
    const reason = this.#samples < minimumSamples ? undefined : this.#slowness(timing);
    this.#samples++;
    // What is slow does not become the measure of what is slow.
    if (reason === undefined) this.#learn(timing);
    return reason;
  }

  get usual(): UsualThroughput {
    return { samples: this.#samples, firstContent: this.#firstContent, rate: this.#rate };
  }

  /** Takes over what another instance has measured, where this one has not seen enough itself. */
  adopt({ samples, firstContent, rate }: UsualThroughput): void {
    if (this.#samples >= minimumSamples || samples < minimumSamples) return;
    this.#samples = samples;
    this.#firstContent = firstContent;
    this.#rate = rate;
  }

  #slowness(timing: Timing): string | undefined {
    const { firstContentAfter } = timing;
    const limit = Math.max(leastTime, this.#firstContent * factor);
    if (firstContentAfter > limit) return `first content after ${(firstContentAfter / 1000).toFixed(1)} s`;
    const rate = rateOf(timing, writingOf(timing));
    if (rate !== undefined && rate < this.#rate / factor) return `${rate.toFixed(1)} tokens a second`;
    return undefined;
  }

  #learn(timing: Timing): void {
    const share = this.#samples <= minimumSamples ? 1 / this.#samples : 1 / minimumSamples;
    this.#firstContent += (timing.firstContentAfter - this.#firstContent) * share;
    const isBurst = writingOf(timing) < burst;
    // It took no longer than from the request to its end: the rate is that at least.
    const rate = rateOf(timing, isBurst ? timing.duration : writingOf(timing));
    if (rate !== undefined) this.#rate += (Math.min(fastest, rate) - this.#rate) * (this.#rate === 0 ? 1 : share);
  }
}

/** Ms in which an answer came after its first content. */
function writingOf({ firstContentAfter, duration }: Timing): number {
  return duration - firstContentAfter;
}

/** Tokens a second over so many ms; undefined for answers too short to tell. */
function rateOf({ tokens }: Timing, time: number): number | undefined {
  return tokens === undefined || tokens < leastTokens ? undefined : (tokens * 1000) / Math.max(burst, time);
}
