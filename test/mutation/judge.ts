import { Covering } from './covering.ts';
import type { MutatedFolder } from './folders.ts';
import type { Mutant } from './mutants.ts';
import { type RunContext, runTests, type TestRun } from './run-tests.ts';
import type { Tree } from './tree.ts';

/** What the tests made of a mutant. `uncovered` ones are reached by no test of the folder, and so survive. */
export interface Judgement {
  readonly mutant: Mutant;
  readonly verdict: 'killed' | 'survived' | 'timed out' | 'uncovered';
  /** The test that failed. */
  readonly killer: string;
}

/** Seconds for all tests of a folder on a busy machine. */
const baselineSeconds = 1_800;
/** Seconds that any run may take, and how many times as long as without a mutant. */
const startSeconds = 60;
const slowest = 4;
const nothingFailed: TestRun = { verdict: 'passed', failure: '', failedFiles: [], seconds: new Map() };

/** Such a test may fail by timing on a busy machine. */
const needsServers = (test: string) => /\.integration\.test\.ts$|^test\/e2e\//.test(test);

/** Runs the tests of one folder on mutants. */
export class Judge {
  readonly #covering: Covering;
  #tests: readonly string[];
  readonly #seconds: ReadonlyMap<string, number>;
  readonly #context: RunContext;

  private constructor(
    covering: Covering,
    tests: readonly string[],
    seconds: ReadonlyMap<string, number>,
    context: RunContext,
  ) {
    this.#covering = covering;
    this.#seconds = seconds;
    this.#context = context;
    this.#tests = tests.toSorted((a, b) => this.#secondsOf(a) - this.#secondsOf(b));
  }

  /**
   * Runs the tests that reach the mutants once without one, shared among the trees. Files that fail then are left out.
   *
   * @throws when all do
   */
  static async open(
    folder: MutatedFolder,
    mutants: readonly Mutant[],
    trees: readonly Tree[],
    context: RunContext,
  ): Promise<Judge> {
    const covering = new Covering((trees[0] as Tree).root);
    const files = [...new Set(mutants.map(({ file }) => file))];
    const all = covering.testsOf(folder);
    const needed = all.filter((test) => files.some((file) => covering.testsThatReach(file, [test]).length > 0));
    const limits = { seconds: baselineSeconds, bail: 0 } as const;
    const runs = await Promise.all(
      trees.map(async (tree, index) => {
        const own = needed.filter((_, at) => at % trees.length === index);
        return own.length === 0 ? nothingFailed : runTests(tree, own, limits, context);
      }),
    );
    const failedFiles = runs.flatMap((run) => run.failedFiles);
    const seconds = new Map(runs.flatMap((run) => [...run.seconds]));
    for (const file of failedFiles) console.log(`not used, because it fails without a mutant: ${file}`);
    const tests = needed.filter((file) => seconds.has(file) && !failedFiles.includes(file));
    if (tests.length === 0 && needed.length > 0)
      throw new Error(
        `The tests of ${folder.name} fail without a mutant: ${runs.map(({ failure }) => failure).join(', ')}`,
      );
    return new Judge(covering, tests, seconds, context);
  }

  async judge(mutant: Mutant, tree: Tree): Promise<Judgement> {
    for (;;) {
      const tests = this.#covering.testsThatReach(mutant.file, this.#tests);
      if (tests.length === 0) return { mutant, verdict: 'uncovered', killer: '' };
      const run = await tree.with(mutant.file, mutant.source, () => this.#run(tests, tree));
      const [failed] = run.failedFiles;
      if (failed === undefined || !needsServers(failed) || (await this.#passes(failed, tree)))
        return judgementOn(mutant, run);
      this.#leaveOut(failed);
    }
  }

  /** @returns false when the tests of a file fail without a mutant too, because the machine is busy */
  async #passes(file: string, tree: Tree): Promise<boolean> {
    const { verdict } = await this.#runOnce([file], tree);
    return verdict === 'passed' || this.#context.signal.aborted;
  }

  #leaveOut(file: string): void {
    console.log(`not used any more, because it fails without a mutant: ${file}`);
    this.#tests = this.#tests.filter((test) => test !== file);
  }

  /** Unit tests first: they are fast, and need no servers. */
  async #run(tests: readonly string[], tree: Tree): Promise<TestRun> {
    const [servers, units] = [tests.filter(needsServers), tests.filter((test) => !needsServers(test))];
    const first = await this.#runOnce(units, tree);
    return first.verdict === 'passed' ? this.#runWithServers(servers, tree) : first;
  }

  /** A failure that does not repeat is the machine's. */
  async #runWithServers(tests: readonly string[], tree: Tree): Promise<TestRun> {
    const first = await this.#runOnce(tests, tree);
    const [failedFile] = first.failedFiles;
    if (failedFile === undefined) return first;
    const again = await this.#runOnce([failedFile], tree);
    return again.verdict === 'passed' ? this.#runOnce(tests, tree) : again;
  }

  async #runOnce(tests: readonly string[], tree: Tree): Promise<TestRun> {
    if (tests.length === 0) return nothingFailed;
    const usual = tests.reduce((sum, test) => sum + this.#secondsOf(test), 0);
    return runTests(tree, tests, { seconds: startSeconds + slowest * usual, bail: 1 }, this.#context);
  }

  #secondsOf(test: string): number {
    return this.#seconds.get(test) ?? 0;
  }
}

function judgementOn(mutant: Mutant, { verdict, failure }: TestRun): Judgement {
  if (verdict === 'failed') return { mutant, verdict: 'killed', killer: failure };
  return { mutant, verdict: verdict === 'passed' ? 'survived' : verdict, killer: '' };
}
