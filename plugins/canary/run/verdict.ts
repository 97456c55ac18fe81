import type { Canary } from '../record/canaries.ts';
import type { CanaryCounts, CanarySide, CanaryVerdict } from '../record/canary-counts.ts';
import { canaryReason } from '../record/canary-reason.ts';
import type { ComparedAccount, Counts } from './counts.ts';
import { runPermutationTest, calculateMinProbability } from './permutation-test.ts';
import { findTotalFailure, type TotalFailure } from './total-failure.ts';

export type Looks = Pick<Canary, 'looks' | 'lateLooks' | 'nextLook'>;

export interface Evaluation extends Looks {
  readonly counts: CanaryCounts;
  readonly verdict: CanaryVerdict;
  readonly reason: string | undefined; // sentence with the figures that are worse
}

/** Minimum counts of the canary for any verdict; the other side needs as many accounts. */
export const minCounts = { requests: 100, accounts: 5 } as const;

/** Requests grow by this factor between two looks, so the number of looks grows with their logarithm. */
const lookFactor = 1.5;

/**
 * What is compared. `alpha`: the probability, over all looks, that the measure rolls back a canary that makes no difference; one percent in
 * total. `worse`: the smallest difference that counts as clearly worse. `margin`: the difference that must be ruled out for "no worse".
 * Differences are between rates, or between logarithms of times.
 */
const measures: readonly Measure[] = [
  { name: 'failures', alpha: 0.005, worse: 0.01, margin: 0.02, compare: compareRates(({ failures }) => failures) },
  { name: 'refusals', alpha: 0.0025, worse: 0.01, margin: 0.02, compare: compareRates(({ refusals }) => refusals) },
  { name: 'time', alpha: 0.0025, worse: Math.log(1.25), margin: Math.log(1.5), compare: compareLogTimes },
];

/** Probability, over all looks after its time is over, that a canary that is worse by the margins is promoted automatically. */
const lateAlpha = 0.1;

interface Measure {
  readonly name: 'failures' | 'refusals' | 'time';
  readonly alpha: number;
  readonly worse: number;
  readonly margin: number;
  /** @param margin added to the expectations of accounts in the canary */
  compare(accounts: readonly ComparedAccount[], margin: number): Excess[];
}

/** How far an account deviates from its expectation, which combines its past requests and the current requests of all accounts. */
interface Excess {
  readonly isCanary: boolean;
  readonly score: number; // limited to ±`maxScore` so that a single unusual account cannot decide
  readonly difference: number;
  readonly weight: number;
}

const maxScore = 4;
/** This many past requests or timed responses of an account weigh as much as the current requests of all accounts. */
const baselineWeight = { requests: 20, timed: 2 };

/** Returns the number of requests, over all accounts, at which the canary has about its minimum count. */
export function calculateFirstLook(share: number): number {
  return Math.ceil(minCounts.requests / share);
}

/**
 * Compares the accounts of a canary with all others. A look is due when the requests of all accounts have grown by half since the previous
 * look, whichever side sent them. Look number k may spend 1 / (k (k + 1)) of each alpha, so that any number of looks spends at most all of
 * it. A total failure is found without a look; see `findTotalFailure`.
 *
 * @param isOver true once the canary's time is over, which makes the first late look due immediately
 */
export async function evaluateCanary(
  accounts: readonly ComparedAccount[],
  { looks, lateLooks, nextLook }: Looks,
  isOver: boolean,
  random?: () => number,
): Promise<Evaluation> {
  const counts = {
    canary: summarizeSide(accounts.filter(({ isCanary }) => isCanary)),
    others: summarizeSide(accounts.filter(({ isCanary }) => !isCanary)),
  };
  const isDue = isLookDue(accounts, { lateLooks, nextLook }, isOver);
  const totalRequests = countRequests(accounts);
  const next = {
    counts,
    looks: looks + (isDue ? 1 : 0),
    lateLooks: lateLooks + (isDue && isOver ? 1 : 0),
    nextLook: isDue ? Math.ceil(Math.max(totalRequests, 1) * lookFactor) : nextLook,
  };
  const conclude = (verdict: CanaryVerdict, reason?: string): Evaluation => ({ ...next, verdict, reason });
  const failure = findTotalFailure(accounts);
  if (failure !== undefined) return conclude('worse', describeTotalFailure(failure));
  if (!hasEnough(counts, spendAlpha(measures[0]?.alpha ?? 0, Math.max(1, next.looks)))) return conclude('too_few');
  if (!isDue) return conclude('undecided');
  for (const measure of measures) {
    const probability = await findWorseProbability(measure, accounts, spendAlpha(measure.alpha, next.looks), random);
    if (probability !== undefined) return conclude('worse', describeReason(measure.name, counts, probability));
  }
  if (!isOver) return conclude('undecided');
  for (const measure of measures)
    if (!(await isNoWorse(measure, accounts, spendAlpha(lateAlpha, next.lateLooks), random)))
      return conclude('undecided');
  return conclude('no_worse');
}

/** An undercount can only delay a look. */
export function isLookDue(
  accounts: readonly ComparedAccount[],
  { lateLooks, nextLook }: Pick<Looks, 'lateLooks' | 'nextLook'>,
  isOver: boolean,
): boolean {
  return countRequests(accounts) >= nextLook || (isOver && lateLooks === 0);
}

function countRequests(accounts: readonly ComparedAccount[]): number {
  return sumBy(accounts, ({ requests }) => requests);
}

function spendAlpha(alpha: number, look: number): number {
  return alpha / (look * (look + 1));
}

function hasEnough({ canary, others }: CanaryCounts, alpha: number): boolean {
  const allAccounts = canary.accounts + others.accounts;
  return canary.requests >= minCounts.requests && isLargeEnough(canary.accounts, allAccounts, alpha);
}

function isLargeEnough(canaryAccounts: number, allAccounts: number, alpha: number): boolean {
  return (
    Math.min(canaryAccounts, allAccounts - canaryAccounts) >= minCounts.accounts &&
    calculateMinProbability(canaryAccounts, allAccounts) <= alpha
  );
}

export function canEvaluate(canaryAccounts: number, allAccounts: number): boolean {
  return isLargeEnough(canaryAccounts, allAccounts, spendAlpha(measures[0]?.alpha ?? 0, 1));
}

/** @returns the probability that the difference is due to chance; undefined unless the difference is significant and large enough */
async function findWorseProbability(
  { compare, worse }: Measure,
  accounts: readonly ComparedAccount[],
  alpha: number,
  random?: () => number,
): Promise<number | undefined> {
  const { canary, others } = splitSides(compare(accounts, 0));
  if (Math.min(canary.length, others.length) < minCounts.accounts) return undefined;
  if (computeMean(canary) - computeMean(others) < worse) return undefined;
  const probability = await runPermutationTest(listScores(canary), listScores(others), alpha, random);
  return probability <= alpha ? probability : undefined;
}

/** The canary must score lower than the others even with the margin added to its expectations. */
async function isNoWorse(
  { compare, margin }: Measure,
  accounts: readonly ComparedAccount[],
  alpha: number,
  random?: () => number,
): Promise<boolean> {
  const { canary, others } = splitSides(compare(accounts, margin));
  // Calls without tokens, such as embeddings, have no times to compare.
  if (canary.length === 0 && others.length === 0) return true;
  if (Math.min(canary.length, others.length) < minCounts.accounts) return false;
  const reversed = [canary, others].map((side) => listScores(side).map((score) => -score)) as [number[], number[]];
  return (await runPermutationTest(...reversed, alpha, random)) <= alpha;
}

/** The score is the signed root of the deviance of a Poisson count, so five of sixty deviate more than one of two. */
function compareRates(count: (counts: Counts) => number): Measure['compare'] {
  return (accounts, margin) => {
    const overall = (sumBy(accounts, count) + 0.5) / (sumBy(accounts, ({ requests }) => requests) + 1);
    return accounts.map((account) => {
      const { requests, before, isCanary } = account;
      const rate = (count(before) + baselineWeight.requests * overall) / (before.requests + baselineWeight.requests);
      const expected = requests * (rate + (isCanary ? margin : 0));
      const observed = count(account);
      const deviance = 2 * ((observed === 0 ? 0 : observed * Math.log(observed / expected)) - (observed - expected));
      const score = clampScore(Math.sign(observed - expected) * Math.sqrt(Math.max(0, deviance)));
      return { isCanary, score, difference: (observed - expected) / requests, weight: requests };
    });
  };
}

function compareLogTimes(accounts: readonly ComparedAccount[], margin: number): Excess[] {
  const timed = accounts.filter((account) => account.timed > 0);
  const overall = sumBy(timed, ({ logSum, timed: count }) => logSum / count) / timed.length;
  return timed.map(({ isCanary, timed: count, logSum, before }) => {
    const expected = (before.logSum + baselineWeight.timed * overall) / (before.timed + baselineWeight.timed);
    const difference = logSum / count - expected - (isCanary ? margin : 0);
    return { isCanary, score: clampScore(difference), difference, weight: 1 };
  });
}

function clampScore(score: number): number {
  return Math.max(-maxScore, Math.min(maxScore, score));
}

function splitSides(excesses: readonly Excess[]): { readonly canary: Excess[]; readonly others: Excess[] } {
  return {
    canary: excesses.filter(({ isCanary }) => isCanary),
    others: excesses.filter(({ isCanary }) => !isCanary),
  };
}

function listScores(side: readonly Excess[]): number[] {
  return side.map(({ score }) => score);
}

function computeMean(side: readonly Excess[]): number {
  return sumBy(side, ({ difference, weight }) => difference * weight) / sumBy(side, ({ weight }) => weight);
}

function sumBy<T>(list: readonly T[], read: (entry: T) => number): number {
  return list.reduce((sum, entry) => sum + read(entry), 0);
}

function summarizeSide(accounts: readonly ComparedAccount[]): CanarySide {
  const times = accounts.flatMap(({ timed, logSum }) => (timed === 0 ? [] : [logSum / timed]));
  return {
    accounts: accounts.length,
    requests: sumBy(accounts, ({ requests }) => requests),
    failures: sumBy(accounts, ({ failures }) => failures),
    refusals: sumBy(accounts, ({ refusals }) => refusals),
    timed: sumBy(accounts, ({ timed }) => timed),
    firstTokenMs: times.length === 0 ? undefined : Math.round(Math.exp(median(times))),
  };
}

function describeReason(name: Measure['name'], { canary, others }: CanaryCounts, probability: number): string {
  const chance = Number(probability.toPrecision(1));
  if (name === 'time')
    return canaryReason('canary.reason.time', {
      ms: canary.firstTokenMs ?? 0,
      count: canary.timed,
      other_ms: others.firstTokenMs ?? 0,
      others: others.timed,
      chance,
    });
  return canaryReason('canary.reason.rate', {
    measure: canaryReason(`canary.reason.${name}`),
    count: canary[name],
    requests: canary.requests,
    other_count: others[name],
    others: others.requests,
    chance,
  });
}

function describeTotalFailure({ canary, others }: TotalFailure): string {
  return canaryReason('canary.reason.total', {
    count: canary.wrong,
    requests: canary.requests,
    accounts: canary.accounts,
    other_count: others.wrong,
    others: others.requests,
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((first, second) => first - second);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
