/** Requests of one side of a canary: the recorded model calls of its accounts. */
export interface CanarySide {
  readonly accounts: number;
  readonly requests: number;
  /** Requests with a 5xx response, or with a response that broke off. */
  readonly failures: number;
  /** Requests that the gateway rejected with a 4xx response. */
  readonly refusals: number;
  /** How many responses have a known time to the first token, and the median over accounts of the geometric mean of these times. */
  readonly timed: number;
  readonly firstTokenMs: number | undefined;
}

/** Both sides of a canary. */
export interface CanaryCounts {
  readonly canary: CanarySide;
  readonly others: CanarySide;
}

/** What the counts say; see verdict.ts. */
export const canaryVerdicts = ['too_few', 'undecided', 'no_worse', 'worse'] as const;
export type CanaryVerdict = (typeof canaryVerdicts)[number];

/** `full`: it serves all accounts. `worse`: it was rolled back because its counts were worse. `ended`: it ended for another reason. */
export const canaryOutcomes = ['full', 'worse', 'ended'] as const;
export type CanaryOutcome = (typeof canaryOutcomes)[number];
