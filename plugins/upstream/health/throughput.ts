const minSamples = 20;
/** A route is slow if it takes this many times longer than usual, and at least `leastTime`. */
const factor = 10;
const leastTime = 2_000; // ms
const minTokens = 50;
/** A response that arrives faster was generated before and buffered: its duration measures nothing. */
const burstMs = 500;
/**
 * Upper bound of a route's usual rate, in tokens per second. Whole answers, cached answers and hidden reasoning come at
 * thousands; any answer of a healthy route reaches a tenth of this.
 */
const fastest = 200;

/** The timing of one answer. */
export interface Timing {
  readonly firstContentAfter: number; // ms since it was sent
  readonly duration: number; // ms from sending to the end
  /** Undefined where they are no measure of the route. */
  readonly tokens: number | undefined;
}

/** The usual speed of a route. */
export interface TypicalThroughput {
  readonly samples: number;
  readonly firstContent: number; // ms, moving average
  readonly rate: number; // tokens per second, moving average; 0 before there is one
}

/**
 * Measures the speed of a route. A route that responds ten times slower than usual is treated as failing.
 */
export class Throughput {
  #samples = 0;
  #firstContent = 0; // ms, moving average
  #rate = 0; // tokens per second, moving average

  /** @returns why this answer was slow for this route; undefined when it was not */
  observe(timing: Timing): string | undefined {
    const reason = this.#samples < minSamples ? undefined : this.#slowness(timing);
    this.#samples++;
    // Slow answers do not lower the bar.
    if (reason === undefined) this.#learn(timing);
    return reason;
  }

  get usual(): TypicalThroughput {
    return { samples: this.#samples, firstContent: this.#firstContent, rate: this.#rate };
  }

  /** Takes over the measurements of another instance while this one has too few. */
  adopt({ samples, firstContent, rate }: TypicalThroughput): void {
    if (this.#samples >= minSamples || samples < minSamples) return;
    this.#samples = samples;
    this.#firstContent = firstContent;
    this.#rate = rate;
  }

  #slowness(timing: Timing): string | undefined {
    const { firstContentAfter } = timing;
    const limit = Math.max(leastTime, this.#firstContent * factor);
    if (firstContentAfter > limit) return `first content after ${(firstContentAfter / 1000).toFixed(1)} s`;
    const rate = rateOf(timing, streamingTime(timing));
    if (rate !== undefined && rate < this.#rate / factor) return `${rate.toFixed(1)} tokens per second`;
    return undefined;
  }

  #learn(timing: Timing): void {
    const share = this.#samples <= minSamples ? 1 / this.#samples : 1 / minSamples;
    this.#firstContent += (timing.firstContentAfter - this.#firstContent) * share;
    const isBurst = streamingTime(timing) < burstMs;
    // The tokens were generated between request and end at the latest: a lower bound of the rate.
    const rate = rateOf(timing, isBurst ? timing.duration : streamingTime(timing));
    if (rate !== undefined) this.#rate += (Math.min(fastest, rate) - this.#rate) * (this.#rate === 0 ? 1 : share);
  }
}

function streamingTime({ firstContentAfter, duration }: Timing): number {
  return duration - firstContentAfter;
}

/** Tokens per second; undefined for responses too short to measure. */
function rateOf({ tokens }: Timing, time: number): number | undefined {
  return tokens === undefined || tokens < minTokens ? undefined : (tokens * 1000) / Math.max(burstMs, time);
}
