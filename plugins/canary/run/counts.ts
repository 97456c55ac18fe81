/** Requests of an account in a period. */
export interface Counts {
  readonly requests: number;
  readonly failures: number;
  readonly refusals: number;
  /** Answers whose time to first token is known, and the sum of its logarithms (ms). */
  readonly timed: number;
  readonly logSum: number;
}

/** Requests of an account since the canary began, and in a period before. */
export interface ComparedAccount extends Counts {
  readonly isCanary: boolean;
  readonly before: Counts;
}
