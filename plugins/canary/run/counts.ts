export interface Counts {
  readonly requests: number;
  readonly failures: number;
  readonly refusals: number;
  readonly timed: number; // responses with a known time to the first token
  readonly logSum: number; // sum of the logarithms of these times in ms
}

export interface ComparedAccount extends Counts {
  readonly isCanary: boolean;
  readonly before: Counts; // in a period before the canary started
}
