import { nextPageTurn } from '#core/platform/timing/turn.ts';

/** Draws as extreme as the observation after which drawing stops: the probability is then known to a third. */
const enough = 10;
/** Accounts drawn per turn of the event loop. */
const drawnPerTurn = 20_000;

/**
 * Returns the probability that the scores of a group of accounts reach their sum by chance alone. The group was drawn at random, so the
 * probability is exact for scores of any distribution that do not depend on the draw.
 * Besag and Clifford, "Sequential Monte Carlo p-values" (1991): drawing ends early if the probability is not small.
 *
 * @param group scores of the accounts in the group
 * @param others scores of all other accounts
 * @param smallest significance level; the probability is never reported as less than a third of it
 */
export async function permutationTest(
  group: readonly number[],
  others: readonly number[],
  smallest: number,
  random: () => number = Math.random,
): Promise<number> {
  const scores = Float64Array.from([...group, ...others]);
  const size = group.length;
  // Minus the rounding error that another order of addition may cause.
  const observed = sumOf(scores, size) - 1e-9;
  const draws = Math.ceil(3 / smallest);
  let extreme = 0;
  for (let draw = 1; draw <= draws; draw++) {
    for (let index = 0; index < size; index++)
      swap(scores, index, index + Math.floor(random() * (scores.length - index)));
    if (sumOf(scores, size) >= observed && ++extreme === enough) return extreme / draw;
    if (draw % Math.ceil(drawnPerTurn / size) === 0) await nextPageTurn();
  }
  return (extreme + 1) / (draws + 1);
}

/** Returns the smallest possible probability for a group of this size: only one of all possible draws has the highest sum. */
export function smallestProbability(size: number, all: number): number {
  let probability = 1;
  for (let index = 0; index < size; index++) probability *= (index + 1) / (all - index);
  return probability;
}

function sumOf(scores: Float64Array, size: number): number {
  let sum = 0;
  for (let index = 0; index < size; index++) sum += scores[index] as number;
  return sum;
}

function swap(scores: Float64Array, one: number, other: number): void {
  const score = scores[one] as number;
  scores[one] = scores[other] as number;
  scores[other] = score;
}
