import { nextPageTurn } from '#core/platform/timing/turn.ts';

const maxExtremeDraws = 10; // enough to know the probability to within a third
const accountsPerTurn = 20_000;

/**
 * Returns the probability that the scores of a group of accounts reach their sum by chance alone. The group was drawn at random, so the
 * probability is exact however the scores are distributed, as long as they do not depend on the draw. Besag and Clifford, "Sequential Monte
 * Carlo p-values" (1991): drawing ends early if the probability is not small.
 *
 * @param group scores of the accounts in the group
 * @param others scores of all other accounts
 * @param significance significance level; the probability is never reported as less than a third of it
 */
export async function runPermutationTest(
  group: readonly number[],
  others: readonly number[],
  significance: number,
  random: () => number = Math.random,
): Promise<number> {
  const scores = Float64Array.from([...group, ...others]);
  const size = group.length;
  // Allows for the rounding error of adding in a different order.
  const observed = sumFirst(scores, size) - 1e-9;
  const draws = Math.ceil(3 / significance);
  let extreme = 0;
  for (let draw = 1; draw <= draws; draw++) {
    for (let index = 0; index < size; index++)
      swap(scores, index, index + Math.floor(random() * (scores.length - index)));
    if (sumFirst(scores, size) >= observed && ++extreme === maxExtremeDraws) return extreme / draw;
    if (draw % Math.ceil(accountsPerTurn / size) === 0) await nextPageTurn();
  }
  return (extreme + 1) / (draws + 1);
}

/** Returns the lowest probability that a group of this size can have: that of a single draw among all possible ones. */
export function calculateMinProbability(size: number, total: number): number {
  let probability = 1;
  for (let index = 0; index < size; index++) probability *= (index + 1) / (total - index);
  return probability;
}

function sumFirst(scores: Float64Array, size: number): number {
  let sum = 0;
  for (let index = 0; index < size; index++) sum += scores[index] as number;
  return sum;
}

function swap(scores: Float64Array, a: number, b: number): void {
  const score = scores[a] as number;
  scores[a] = scores[b] as number;
  scores[b] = score;
}
