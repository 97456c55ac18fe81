const minSamples = 20;
/** A route is slow if it takes `slowFactor` times longer than usual, and at least `minSlowMs`. */
const slowFactor = 10;
const minSlowMs = 2_000;
const minTokens = 50;
/** A response that streams in less time was generated earlier and buffered: its streaming time measures nothing. */
const burstMs = 500;
/**
 * Upper bound of the usual rate in tokens per second. Whole answers, cached answers and hidden reasoning appear to arrive at thousands; any
 * answer of a healthy route reaches a tenth of this.
 */
const maxUsualRate = 200;

export interface Timing {
  readonly firstContentAfter: number; // ms since the request was sent
  readonly duration: number; // ms from sending the request to the end of the answer
  /** Output tokens; undefined if they do not measure the route. */
  readonly tokens: number | undefined;
}

export interface TypicalThroughput {
  readonly samples: number;
  readonly firstContent: number; // ms, moving average
  readonly rate: number; // tokens per second, moving average; 0 before the first
}

/** Usual speed of a route. A route that responds ten times slower than usual counts as failing. */
export class Throughput {
  #samples = 0;
  #firstContent = 0; // ms, moving average
  #rate = 0; // tokens per second, moving average

  /** @returns why this answer was slow for the route; undefined if it was not */
  observe(timing: Timing): string | undefined {
    const reason = this.#samples < minSamples ? undefined : this.#slowness(timing);
    this.#samples++;
    // Slow answers must not lower the threshold.
    if (reason === undefined) this.#learn(timing);
    return reason;
  }

  get usual(): TypicalThroughput {
    return { samples: this.#samples, firstContent: this.#firstContent, rate: this.#rate };
  }

  /** Adopts the measurements of another instance while this one has too few. */
  adopt({ samples, firstContent, rate }: TypicalThroughput): void {
    if (this.#samples >= minSamples || samples < minSamples) return;
    this.#samples = samples;
    this.#firstContent = firstContent;
    this.#rate = rate;
  }

  #slowness(timing: Timing): string | undefined {
    const { firstContentAfter } = timing;
    const limit = Math.max(minSlowMs, this.#firstContent * slowFactor);
    if (firstContentAfter > limit) return `first content after ${(firstContentAfter / 1000).toFixed(1)} s`;
    const rate = rateOf(timing, streamingTime(timing));
    if (rate !== undefined && rate < this.#rate / slowFactor) return `${rate.toFixed(1)} tokens per second`;
    return undefined;
  }

  #learn(timing: Timing): void {
    const share = this.#samples <= minSamples ? 1 / this.#samples : 1 / minSamples;
    this.#firstContent += (timing.firstContentAfter - this.#firstContent) * share;
    const isBurst = streamingTime(timing) < burstMs;
    // The tokens were generated within the whole duration: a lower bound of the rate.
    const rate = rateOf(timing, isBurst ? timing.duration : streamingTime(timing));
    if (rate !== undefined) this.#rate += (Math.min(maxUsualRate, rate) - this.#rate) * (this.#rate === 0 ? 1 : share);
  }
}

function streamingTime({ firstContentAfter, duration }: Timing): number {
  return duration - firstContentAfter;
}

/** Tokens per second; undefined for responses too short to measure. */
function rateOf({ tokens }: Timing, time: number): number | undefined {
  return tokens === undefined || tokens < minTokens ? undefined : (tokens * 1000) / Math.max(burstMs, time);
}
