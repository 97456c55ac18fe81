/** Requests of one side of a canary: model calls of accounts, as far as they are on record. */
export interface CanarySide {
  readonly accounts: number;
  readonly requests: number;
  /** Answered 5xx, or broken off. */
  readonly failures: number;
  /** Answered 4xx by the gateway. */
  readonly refusals: number;
  /** Answers whose time to first token is known; of it, the median of the accounts' geometric means. */
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
