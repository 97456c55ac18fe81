/**
 * `npm run mutation`: puts small bugs into the sources, one at a time, and runs the tests that can reach them. A bug that no
 * test sees survives, and shows what is not tested. Prints the survivors and a score per folder.
 *
 *     npm run mutation -- --minutes 10                               as many as that allows, of every folder
 *     npm run mutation -- --only core/platform/shared --sample 40 --seed 1    forty mutants at random
 *     npm run mutation -- --only core/platform/shared/circuit.ts              all mutants of a file
 *     npm run mutation -- --list                                     how many there are
 */
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { forManyDatabases, startPostgres } from '../support/global-postgres.ts';
import { folders, type MutatedFolder } from './folders.ts';
import { Judge, type Judgement } from './judge.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { printJudgement, printScore } from './report.ts';
import type { RunContext } from './run-tests.ts';
import { sample } from './sample.ts';
import { Tree } from './tree.ts';

const workers = 2;
const root = join(import.meta.dirname, '../..');

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

setPriority(constants.priority.PRIORITY_LOW);
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
const chosen = folders
  .map((folder) => ({ folder, mutants: choose(folder) }))
  .filter(({ mutants }) => mutants.length > 0);
if (chosen.length === 0) throw new Error(`No mutants in "${values.only}"; use one of: ${names().join(', ')}`);
if (values.list) for (const { folder, mutants } of chosen) console.log(`${folder.name}: ${mutants.length} mutants`);
else await judgeAll();

function choose({ name }: MutatedFolder): readonly Mutant[] {
  const parts = values.only?.split(',') ?? [name];
  const paths = parts.filter((part) => part === name || part.startsWith(`${name}/`));
  const mutants = paths.flatMap((path) => mutantsOf(root, path));
  if (values.sample === undefined && values.minutes === undefined) return mutants;
  return sample(mutants, Number(values.sample ?? mutants.length), values.seed);
}

function names(): readonly string[] {
  return folders.map(({ name }) => name);
}

async function judgeAll(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startPostgres(forManyDatabases));
  const trees: Tree[] = [];
  for (let i = 0; i < workers; i++) trees.push(stack.use(await Tree.copy(root)));
  const { url, templateDatabase } = postgres;
  const environment = { TEST_DATABASE_URL: url, TEST_TEMPLATE_DATABASE: templateDatabase };
  const end = performance.now() + Number(values.minutes ?? Infinity) * 60_000;
  const scores: (() => void)[] = [];
  for (const [index, { folder, mutants }] of chosen.entries()) {
    if (stop.signal.aborted) break;
    const now = performance.now();
    // What a folder leaves of its time is shared by the others.
    const until = now + (end - now) / (chosen.length - index);
    try {
      const context = { environment, signal: stop.signal };
      const judgements = await judgeFolder(folder, mutants, trees, context, until);
      scores.push(() => printScore(folder.name, judgements, mutants.length));
    } catch (error) {
      // The other folders still get their scores.
      scores.push(() =>
        console.log(`${folder.name}: no score: ${error instanceof Error ? error.message : String(error)}`),
      );
      process.exitCode = 1;
    }
  }
  console.log('');
  for (const print of scores) print();
}

/** @param until on the clock of performance.now(); each worker judges one mutant, however late it is */
async function judgeFolder(
  folder: MutatedFolder,
  mutants: readonly Mutant[],
  trees: readonly Tree[],
  context: RunContext,
  until: number,
): Promise<readonly Judgement[]> {
  const isSample = values.sample !== undefined || values.minutes !== undefined;
  console.log(`\n${folder.name}: ${mutants.length} mutants${isSample ? `, seed ${values.seed}` : ''}`);
  const judge = await Judge.open(folder, mutants, trees, context);
  const judgements: Judgement[] = [];
  const waiting = mutants.values();
  await Promise.all(
    trees.map(async (tree) => {
      for (const mutant of waiting) {
        const judgement = await judge.judge(mutant, tree);
        if (stop.signal.aborted) return;
        judgements.push(judgement);
        printJudgement(judgement, judgements.length, mutants.length);
        if (performance.now() > until) return;
      }
    }),
  );
  return judgements;
}
