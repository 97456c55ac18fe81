/** Tokens, as the upstream counted them as a rule; undefined where it did not say. */
export interface Usage {
  readonly input?: number | undefined; // all prompt tokens, cached ones included
  readonly output?: number | undefined; // reasoning included
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly reasoning?: number | undefined;
  /** True when the upstream did not count, and the gateway has guessed. */
  readonly isEstimated?: boolean | undefined;
}
