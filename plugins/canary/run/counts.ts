/** Requests of an account in a period. */
export interface Counts {
  readonly requests: number;
  readonly failures: number;
  readonly refusals: number;
  /** How many responses have a known time to the first token, and the sum of the logarithms of these times in ms. */
  readonly timed: number;
  readonly logSum: number;
}

/** Requests of an account since the canary started, and in a period before that. */
export interface ComparedAccount extends Counts {
  readonly isCanary: boolean;
  readonly before: Counts;
}
