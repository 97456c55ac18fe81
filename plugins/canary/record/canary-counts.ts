/** Requests of one side of a canary: the recorded model calls of its accounts. */
export interface CanarySide {
  readonly accounts: number;
  readonly requests: number;
  /** Requests with a 5xx response, or with a response that broke off. */
  readonly failures: number;
  /** Requests that the gateway refused with a 4xx response. */
  readonly refusals: number;
  /** Responses with a known time to first token, and the median of the accounts' geometric means of these times. */
  readonly timed: number;
  readonly firstTokenMs: number | undefined;
}

/** Both sides of a canary. */
export interface CanaryCounts {
  readonly canary: CanarySide;
  readonly others: CanarySide;
}

/** Verdicts on the counts, see verdict.ts. */
export const canaryVerdicts = ['too_few', 'undecided', 'no_worse', 'worse'] as const;
export type CanaryVerdict = (typeof canaryVerdicts)[number];

/** Outcomes: it serves all accounts, was rolled back because its counts were worse, or ended for a different reason. */
export const canaryOutcomes = ['full', 'worse', 'ended'] as const;
export type CanaryOutcome = (typeof canaryOutcomes)[number];
