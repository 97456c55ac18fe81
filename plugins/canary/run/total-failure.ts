import type { ComparedAccount, Counts } from './counts.ts';

/** Least failures of the canary for a total one, and the share of the others' requests that may fail meanwhile. */
export const totalFailure = { requests: 10, accounts: 2, othersRequests: 10, othersWrong: 0.2 } as const;

/** Both sides of a canary of which nothing worked. */
export interface TotalFailure {
  readonly canary: WrongCount;
  readonly others: WrongCount;
}

interface WrongCount {
  /** Failed or refused. */
  readonly wrong: number;
  readonly requests: number;
  readonly accounts: number;
}

/**
 * Finds that not one request of a canary has worked: at least 10 of at least 2 accounts that were well before, while four of five requests of the
 * others did. It needs fewer accounts than a comparison of rates, so a small shop is protected as well.
 *
 * One request that works ends the matter for good, so looking often adds nothing: a canary that changes nothing is taken back
 * only where the first accounts in it, two at least, go wrong entirely and by themselves. Where a share q of the accounts does that, these are at
 * most q² of the canaries. What makes the others go wrong as well, such as a vendor that is down, does not count.
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

/**
 * A client that is broken, or has no pass, was so before the canary. Of one that is new, only failures count: its refusals may be its
 * own.
 */
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
