/** Requests of one side of a canary: the recorded model calls of its accounts. */
export interface CanarySide {
  readonly accounts: number;
  readonly requests: number;
  readonly failures: number; // with a 5xx response, or with a response that broke off
  readonly refusals: number; // rejected by the gateway with a 4xx response
  readonly timed: number; // responses with a known time to the first token
  readonly firstTokenMs: number | undefined; // median over accounts of the geometric mean of these times
}

export interface CanaryCounts {
  readonly canary: CanarySide;
  readonly others: CanarySide;
}

export const canaryVerdicts = ['too_few', 'undecided', 'no_worse', 'worse'] as const;
export type CanaryVerdict = (typeof canaryVerdicts)[number];

/** `full`: it serves all accounts. `worse`: it was rolled back because its counts were worse. `ended`: it ended for another reason. */
export const canaryOutcomes = ['full', 'worse', 'ended'] as const;
export type CanaryOutcome = (typeof canaryOutcomes)[number];
