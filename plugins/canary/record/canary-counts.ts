/** Requests of one side of a canary: the recorded model calls of its accounts. */
export interface CanarySide {
  readonly accounts: number;
  readonly requests: number;
  /** Requests answered with 5xx, or whose answer broke off. */
  readonly failures: number;
  /** Requests answered with 4xx by the gateway. */
  readonly refusals: number;
  /** Answers whose time to first token is known, and the median of the accounts' geometric means of that time. */
  readonly timed: number;
  readonly firstTokenMs: number | undefined;
}

/** Both sides of a canary. */
export interface CanaryCounts {
  readonly canary: CanarySide;
  readonly others: CanarySide;
}

/** Verdict on the counts: see verdict.ts. */
export const canaryVerdicts = ['too_few', 'undecided', 'no_worse', 'worse'] as const;
export type CanaryVerdict = (typeof canaryVerdicts)[number];

/** End of a canary: it serves all accounts, was rolled back because its counts were worse, or was ended for another reason. */
export const canaryOutcomes = ['full', 'worse', 'ended'] as const;
export type CanaryOutcome = (typeof canaryOutcomes)[number];
