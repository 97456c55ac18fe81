import { canaryReason } from '../record/canary-reason.ts';
import type { CanaryCounts, CanarySide, CanaryVerdict } from '../record/canary-counts.ts';
import type { ComparedAccount, Counts } from './counts.ts';
import { permutationTest, smallestProbability } from './permutation-test.ts';
import { findTotalFailure, type TotalFailure } from './total-failure.ts';

/** Number of looks at the counts so far, see `lookFactor`. */
export interface Looks {
  readonly looks: number;
  /** Number of looks since the canary's time was over. */
  readonly lateLooks: number;
  /** Requests of all accounts at which the next look is due. */
  readonly nextLook: number;
}

export interface Judgement extends Looks {
  readonly counts: CanaryCounts;
  readonly verdict: CanaryVerdict;
  /** The worse figures in words, with the numbers. */
  readonly reason: string | undefined;
}

/** Minimum counts of the canary for any verdict; the other side needs as many accounts. */
export const leastCounts = { requests: 100, accounts: 5 } as const;

/** Factor of requests between two looks: the number of looks grows with the logarithm of the requests. */
const lookFactor = 1.5;

/**
 * The compared measures. `alpha`: the probability, over all looks, that the measure rolls back a canary that makes no difference; one
 * percent in total. `worse`: the least difference that counts as clearly worse. `margin`: the difference that must be ruled out for
 * "no worse". Differences are computed of rates, or of logarithms of times.
 */
const measures: readonly Measure[] = [
  { name: 'failures', alpha: 0.005, worse: 0.01, margin: 0.02, excessOf: rateExcess(({ failures }) => failures) },
  { name: 'refusals', alpha: 0.0025, worse: 0.01, margin: 0.02, excessOf: rateExcess(({ refusals }) => refusals) },
  { name: 'time', alpha: 0.0025, worse: Math.log(1.25), margin: Math.log(1.5), excessOf: timeExcess },
];

/** Probability, over all looks after its time, that a canary that is worse by the margins is promoted automatically. */
const lateAlpha = 0.1;

interface Measure {
  readonly name: 'failures' | 'refusals' | 'time';
  readonly alpha: number;
  readonly worse: number;
  readonly margin: number;
  /** Compares accounts with their expectations. @param margin added to the expectations of accounts in the canary */
  excessOf(accounts: readonly ComparedAccount[], margin: number): Excess[];
}

/** Deviation of an account from its expectation, which follows from its past requests and the current requests of all accounts. */
interface Excess {
  readonly isCanary: boolean;
  /** Score of the deviation, capped at `largestScore` to bound the effect of a single odd account. */
  readonly score: number;
  readonly difference: number;
  readonly weight: number;
}

/** `past`: requests or timed answers after which an account's past weighs as much as the current requests of all accounts. */
const largestScore = 4;
const past = { requests: 20, timed: 2 };

/** Returns the requests of all accounts at which the canary has about its minimum count. @param share of the accounts, from 0 to 1 */
export function firstLook(share: number): number {
  return Math.ceil(leastCounts.requests / share);
}

/**
 * Compares the accounts of a canary with all others. A look happens when the requests of all accounts have grown by half since the one
 * before, which does not depend on which side they are on; look number k may spend 1 / (k (k + 1)) of each alpha, so that any number of
 * looks spends at most all of it. A total failure is found without a look, see `findTotalFailure`.
 *
 * @param isOver true once the canary's time is over: the first look is then due at once
 */
export async function judge(
  accounts: readonly ComparedAccount[],
  { looks, lateLooks, nextLook }: Looks,
  isOver: boolean,
  random?: () => number,
): Promise<Judgement> {
  const counts = {
    canary: sideOf(accounts.filter(({ isCanary }) => isCanary)),
    others: sideOf(accounts.filter(({ isCanary }) => !isCanary)),
  };
  const isDue = isLookDue(accounts, { lateLooks, nextLook }, isOver);
  const total = totalOf(accounts);
  const next = {
    counts,
    looks: looks + (isDue ? 1 : 0),
    lateLooks: lateLooks + (isDue && isOver ? 1 : 0),
    nextLook: isDue ? Math.ceil(Math.max(total, 1) * lookFactor) : nextLook,
  };
  const say = (verdict: CanaryVerdict, reason?: string): Judgement => ({ ...next, verdict, reason });
  const failure = findTotalFailure(accounts);
  if (failure !== undefined) return say('worse', describeTotal(failure));
  if (!hasEnough(counts, spent(measures[0]?.alpha ?? 0, Math.max(1, next.looks)))) return say('too_few');
  if (!isDue) return say('undecided');
  for (const measure of measures) {
    const found = await isWorse(measure, accounts, spent(measure.alpha, next.looks), random);
    if (found !== undefined) return say('worse', describe(measure.name, counts, found));
  }
  if (!isOver) return say('undecided');
  for (const measure of measures)
    if (!(await isNoWorse(measure, accounts, spent(lateAlpha, next.lateLooks), random))) return say('undecided');
  return say('no_worse');
}

/** Returns true if `judge` looks at these counts. An undercount can only delay a look. */
export function isLookDue(
  accounts: readonly ComparedAccount[],
  { lateLooks, nextLook }: Pick<Looks, 'lateLooks' | 'nextLook'>,
  isOver: boolean,
): boolean {
  return totalOf(accounts) >= nextLook || (isOver && lateLooks === 0);
}

function totalOf(accounts: readonly ComparedAccount[]): number {
  return sumOf(accounts, ({ requests }) => requests);
}

function spent(alpha: number, look: number): number {
  return alpha / (look * (look + 1));
}

/** True if there are enough requests, and enough accounts for a significant result at this look. */
function hasEnough({ canary, others }: CanaryCounts, alpha: number): boolean {
  const all = canary.accounts + others.accounts;
  return canary.requests >= leastCounts.requests && areEnough(canary.accounts, all, alpha);
}

function areEnough(taken: number, all: number, alpha: number): boolean {
  return Math.min(taken, all - taken) >= leastCounts.accounts && smallestProbability(taken, all) <= alpha;
}

/** Returns true if this many accounts in the canary, out of all, allow a verdict at the first look. */
export function canJudge(taken: number, all: number): boolean {
  return areEnough(taken, all, spent(measures[0]?.alpha ?? 0, 1));
}

/** @returns the probability of such a difference by chance, if it is small enough and the difference large enough */
async function isWorse(
  { excessOf, worse }: Measure,
  accounts: readonly ComparedAccount[],
  alpha: number,
  random?: () => number,
): Promise<number | undefined> {
  const { canary, others } = sidesOf(excessOf(accounts, 0));
  if (Math.min(canary.length, others.length) < leastCounts.accounts) return undefined;
  if (meanOf(canary) - meanOf(others) < worse) return undefined;
  const probability = await permutationTest(scoresOf(canary), scoresOf(others), alpha, random);
  return probability <= alpha ? probability : undefined;
}

/** Rules out that the canary is worse by the margin: with the margin added to its expectations, it scores lower than the others. */
async function isNoWorse(
  { excessOf, margin }: Measure,
  accounts: readonly ComparedAccount[],
  alpha: number,
  random?: () => number,
): Promise<boolean> {
  const { canary, others } = sidesOf(excessOf(accounts, margin));
  // Calls without tokens, such as embeddings, have no time to compare.
  if (canary.length === 0 && others.length === 0) return true;
  if (Math.min(canary.length, others.length) < leastCounts.accounts) return false;
  const reversed = [canary, others].map((side) => scoresOf(side).map((score) => -score)) as [number[], number[]];
  return (await permutationTest(...reversed, alpha, random)) <= alpha;
}

/** Excess of rates. The score is the signed root of the deviance of a Poisson count: five of sixty deviate more than one of two. */
function rateExcess(count: (counts: Counts) => number): Measure['excessOf'] {
  return (accounts, margin) => {
    const usual = (sumOf(accounts, count) + 0.5) / (sumOf(accounts, ({ requests }) => requests) + 1);
    return accounts.map((account) => {
      const { requests, before, isCanary } = account;
      const rate = (count(before) + past.requests * usual) / (before.requests + past.requests);
      const expected = requests * (rate + (isCanary ? margin : 0));
      const found = count(account);
      const deviance = 2 * ((found === 0 ? 0 : found * Math.log(found / expected)) - (found - expected));
      const score = bounded(Math.sign(found - expected) * Math.sqrt(Math.max(0, deviance)));
      return { isCanary, score, difference: (found - expected) / requests, weight: requests };
    });
  };
}

/** Excess of logarithms of times. */
function timeExcess(accounts: readonly ComparedAccount[], margin: number): Excess[] {
  const timed = accounts.filter((account) => account.timed > 0);
  const usual = sumOf(timed, ({ logSum, timed: count }) => logSum / count) / timed.length;
  return timed.map(({ isCanary, timed: count, logSum, before }) => {
    const expected = (before.logSum + past.timed * usual) / (before.timed + past.timed);
    const difference = logSum / count - expected - (isCanary ? margin : 0);
    return { isCanary, score: bounded(difference), difference, weight: 1 };
  });
}

function bounded(score: number): number {
  return Math.max(-largestScore, Math.min(largestScore, score));
}

function sidesOf(all: readonly Excess[]): { readonly canary: Excess[]; readonly others: Excess[] } {
  return { canary: all.filter(({ isCanary }) => isCanary), others: all.filter(({ isCanary }) => !isCanary) };
}

function scoresOf(side: readonly Excess[]): number[] {
  return side.map(({ score }) => score);
}

function meanOf(side: readonly Excess[]): number {
  return sumOf(side, ({ difference, weight }) => difference * weight) / sumOf(side, ({ weight }) => weight);
}

function sumOf<T>(list: readonly T[], read: (one: T) => number): number {
  return list.reduce((sum, one) => sum + read(one), 0);
}

function sideOf(accounts: readonly ComparedAccount[]): CanarySide {
  const times = accounts.flatMap(({ timed, logSum }) => (timed === 0 ? [] : [logSum / timed]));
  return {
    accounts: accounts.length,
    requests: sumOf(accounts, ({ requests }) => requests),
    failures: sumOf(accounts, ({ failures }) => failures),
    refusals: sumOf(accounts, ({ refusals }) => refusals),
    timed: sumOf(accounts, ({ timed }) => timed),
    firstTokenMs: times.length === 0 ? undefined : Math.round(Math.exp(median(times))),
  };
}

function describe(name: Measure['name'], { canary, others }: CanaryCounts, probability: number): string {
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

function describeTotal({ canary, others }: TotalFailure): string {
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
