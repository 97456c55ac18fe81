import type { ComparedAccount, Counts } from './counts.ts';

/** Minimum counts for a total failure, and the largest share of the others' requests that may go wrong. */
export const totalFailure = { requests: 10, accounts: 2, othersRequests: 10, othersWrong: 0.2 } as const;

export interface TotalFailure {
  readonly canary: SideSummary;
  readonly others: SideSummary;
}

interface SideSummary {
  readonly wrong: number; // requests that failed or were rejected
  readonly requests: number;
  readonly accounts: number;
}

/**
 * Finds a total failure: all requests of the canary went wrong, at least 10 from at least 2 accounts that were healthy before, and four of
 * five requests of the others succeeded. It needs fewer accounts than a comparison of rates, so it protects small shops as well.
 *
 * One successful request rules it out for good, so frequent looks do not raise the error rate: a canary that changes nothing is rolled back
 * only if its first accounts, at least two, fail entirely for reasons of their own. If a share q of the accounts does so, that affects at
 * most q² of the canaries. Failures that also hit the others, such as a vendor that is down, do not count.
 */
export function findTotalFailure(accounts: readonly ComparedAccount[]): TotalFailure | undefined {
  const canary = accounts.filter(({ isCanary }) => isCanary);
  if (canary.some((account) => countWrongRequests(account) < account.requests)) return undefined;
  const canarySummary = summarizeSide(canary.filter(wasHealthy));
  const others = summarizeSide(accounts.filter(({ isCanary }) => !isCanary));
  const isTotal = canarySummary.requests >= totalFailure.requests && canarySummary.accounts >= totalFailure.accounts;
  const areOthersHealthy =
    others.requests >= totalFailure.othersRequests && others.wrong <= others.requests * totalFailure.othersWrong;
  return isTotal && areOthersHealthy ? { canary: canarySummary, others } : undefined;
}

/** If the client is new, only failures count, because rejections may be its own fault. */
function wasHealthy({ before, requests, failures }: ComparedAccount): boolean {
  return before.requests === 0 ? failures === requests : countWrongRequests(before) * 2 < before.requests;
}

function countWrongRequests({ failures, refusals }: Counts): number {
  return failures + refusals;
}

function summarizeSide(side: readonly ComparedAccount[]): SideSummary {
  return {
    wrong: side.reduce((sum, account) => sum + countWrongRequests(account), 0),
    requests: side.reduce((sum, { requests }) => sum + requests, 0),
    accounts: side.length,
  };
}
