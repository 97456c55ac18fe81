import type { ComparedAccount, Counts } from './counts.ts';

/** Minimum counts for a total failure, and the share of the others' requests that may fail in the same period. */
export const totalFailure = { requests: 10, accounts: 2, othersRequests: 10, othersWrong: 0.2 } as const;

/** Both sides of a canary without a single successful request. */
export interface TotalFailure {
  readonly canary: WrongCount;
  readonly others: WrongCount;
}

interface WrongCount {
  /** Failed or refused requests. */
  readonly wrong: number;
  readonly requests: number;
  readonly accounts: number;
}

/**
 * Finds a total failure: all requests of the canary went wrong, at least 10 of at least 2 accounts that were well before, while four
 * of five requests of the others succeeded. It needs fewer accounts than a comparison of rates, so it protects small shops as well.
 *
 * One successful request rules it out for good, so frequent looks do not raise the error rate: a canary that changes nothing is
 * rolled back only if its first accounts, at least two, fail entirely for reasons of their own. If a share q of the accounts does
 * so, that affects at most q² of the canaries. Failures that also hit the others, such as a vendor that is down, do not count.
 */
export function findTotalFailure(accounts: readonly ComparedAccount[]): TotalFailure | undefined {
  const canary = accounts.filter(({ isCanary }) => isCanary);
  if (canary.some((account) => wrongOf(account) < account.requests)) return undefined;
  const counted = countWrong(canary.filter(wasWell));
  const others = countWrong(accounts.filter(({ isCanary }) => !isCanary));
  const isTotal = counted.requests >= totalFailure.requests && counted.accounts >= totalFailure.accounts;
  const isTheirs =
    others.requests >= totalFailure.othersRequests && others.wrong <= others.requests * totalFailure.othersWrong;
  return isTotal && isTheirs ? { canary: counted, others } : undefined;
}

/** A client that is broken or has no pass was so before. For a new one only failures count: refusals may be its own fault. */
function wasWell({ before, requests, failures }: ComparedAccount): boolean {
  return before.requests === 0 ? failures === requests : wrongOf(before) * 2 < before.requests;
}

function wrongOf({ failures, refusals }: Counts): number {
  return failures + refusals;
}

function countWrong(side: readonly ComparedAccount[]): WrongCount {
  return {
    wrong: side.reduce((sum, account) => sum + wrongOf(account), 0),
    requests: side.reduce((sum, { requests }) => sum + requests, 0),
    accounts: side.length,
  };
}
