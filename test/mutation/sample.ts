import { createHash } from 'node:crypto';
import type { Mutant } from './mutants.ts';

/** So many of the mutants, at random. The same seed selects the same ones, wherever they moved in their files. */
export function sample(mutants: readonly Mutant[], count: number, seed: string): readonly Mutant[] {
  return mutants
    .map((mutant) => ({ mutant, rank: rankOf(mutant, seed) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant);
}

function rankOf({ file, before, after }: Mutant, seed: string): string {
  return createHash('sha256').update([seed, file, before, after].join('\n')).digest('hex');
}
