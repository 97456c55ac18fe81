const minSamples = 20;
const slowFactor = 10; // times the usual time to the first content, or for each token
const minSlowMs = 2_000; // first content within this time is never slow
const minTokens = 50;
/** A response that streams faster than this was generated earlier and buffered, so its streaming time measures nothing. */
const burstMs = 500;
/**
 * The usual rate is capped at this many tokens per second, because non-streaming responses, cached responses and hidden reasoning seem to
 * arrive at thousands per second. Any healthy route reaches a tenth of it.
 */
const maxUsualRate = 200;

export interface Timing {
  readonly firstContentMs: number; // since the request was sent
  readonly durationMs: number; // from sending the request to the end of the response
  /** Output tokens; undefined if they do not measure the route. */
  readonly tokens: number | undefined;
}

/** Usual speed of a route, as sent to other instances. */
export interface TypicalThroughput {
  readonly samples: number;
  readonly firstContent: number; // ms, moving average
  readonly rate: number; // tokens per second, moving average; 0 before the first
}

/** Usual speed of a route. A route that responds ten times more slowly than usual counts as failing. */
export class Throughput {
  #samples = 0;
  #firstContent = 0; // ms, moving average
  #rate = 0; // tokens per second, moving average

  /** Returns why this response was slow for the route; undefined if it was not. */
  recordTiming(timing: Timing): string | undefined {
    const reason = this.#samples < minSamples ? undefined : this.#describeSlowness(timing);
    this.#samples++;
    // Slow responses must not lower the threshold.
    if (reason === undefined) this.#updateAverages(timing);
    return reason;
  }

  get typical(): TypicalThroughput {
    return { samples: this.#samples, firstContent: this.#firstContent, rate: this.#rate };
  }

  /** Adopts the measurements of another instance while this one has too few. */
  adopt({ samples, firstContent, rate }: TypicalThroughput): void {
    if (this.#samples >= minSamples || samples < minSamples) return;
    this.#samples = samples;
    this.#firstContent = firstContent;
    this.#rate = rate;
  }

  #describeSlowness(timing: Timing): string | undefined {
    const { firstContentMs } = timing;
    const limit = Math.max(minSlowMs, this.#firstContent * slowFactor);
    if (firstContentMs > limit) return `first content after ${(firstContentMs / 1000).toFixed(1)} s`;
    const rate = computeTokenRate(timing, computeStreamingMs(timing));
    if (rate !== undefined && rate < this.#rate / slowFactor) return `${rate.toFixed(1)} tokens per second`;
    return undefined;
  }

  #updateAverages(timing: Timing): void {
    const weight = this.#samples <= minSamples ? 1 / this.#samples : 1 / minSamples;
    this.#firstContent += (timing.firstContentMs - this.#firstContent) * weight;
    const isBurst = computeStreamingMs(timing) < burstMs;
    // A burst was generated in at most the whole duration, so this is a lower bound of the rate.
    const rate = computeTokenRate(timing, isBurst ? timing.durationMs : computeStreamingMs(timing));
    if (rate !== undefined) this.#rate += (Math.min(maxUsualRate, rate) - this.#rate) * (this.#rate === 0 ? 1 : weight);
  }
}

function computeStreamingMs({ firstContentMs, durationMs }: Timing): number {
  return durationMs - firstContentMs;
}

function computeTokenRate({ tokens }: Timing, elapsedMs: number): number | undefined {
  return tokens === undefined || tokens < minTokens ? undefined : (tokens * 1000) / Math.max(burstMs, elapsedMs);
}
