/** Requests of an account in a period. */
export interface Counts {
  readonly requests: number;
  readonly failures: number;
  readonly refusals: number;
  /** Responses with a known time to first token, and the sum of the logarithms of these times in ms. */
  readonly timed: number;
  readonly logSum: number;
}

/** Requests of an account since the start of the canary, and in a period before. */
export interface ComparedAccount extends Counts {
  readonly isCanary: boolean;
  readonly before: Counts;
}
