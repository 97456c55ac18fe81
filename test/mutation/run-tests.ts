import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tree } from './tree.ts';

/** How a run of tests ended. */
export interface TestRun {
  readonly verdict: 'passed' | 'failed' | 'timed out';
  /** The first test that failed; why the run failed where none did. */
  readonly failure: string;
  readonly failedFiles: readonly string[];
  readonly seconds: ReadonlyMap<string, number>;
}

/** The part of Vitest's JSON report that is read. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly message?: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Ms for one test: at the lowest priority it may take three times as long as usual. */
const testTimeout = 60_000;

/** What all runs share. */
export interface RunContext {
  /** Addresses of the servers that tests use. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends the run that is under way. */
  readonly signal: AbortSignal;
}

/** How long a run may go on. */
export interface RunLimits {
  readonly seconds: number;
  /** Failures after which it ends; 0 for any number. */
  readonly bail: 0 | 1;
}

/** Runs tests in a tree, one file after the other in the given order. */
export async function runTests(
  tree: Tree,
  tests: readonly string[],
  { seconds, bail }: RunLimits,
  { environment, signal: stop }: RunContext,
): Promise<TestRun> {
  const report = join(tree.root, 'report.json');
  await rm(report, { force: true });
  await tree.clean();
  const vitest = spawn(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--config',
      'test/mutation/vitest.config.ts',
      '--outputFile',
      report,
      '--bail',
      String(bail),
      `--testTimeout=${testTimeout}`,
      `--hookTimeout=${testTimeout}`,
      '--retry=0',
      ...tests,
    ],
    {
      cwd: tree.root,
      env: { ...process.env, ...environment, TMPDIR: tree.temporary, MUTATION_TESTS: tests.join(' ') },
      stdio: 'ignore',
      detached: true,
    },
  );
  const limit = AbortSignal.any([stop, AbortSignal.timeout(Math.ceil(seconds * 1000))]);
  const end = () => endGroup(vitest.pid);
  limit.addEventListener('abort', end);
  const [code, signal] = (await once(vitest, 'exit')) as [number | null, string | null];
  limit.removeEventListener('abort', end);
  end();
  const outcome = await read(report, tree.root);
  if (signal !== null) return { verdict: 'timed out', ...outcome };
  return { verdict: code === 0 ? 'passed' : 'failed', ...outcome };
}

/** Ends Vitest and the processes that its tests have left. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function read(file: string, root: string): Promise<Omit<TestRun, 'verdict'>> {
  const text = await readFile(file, 'utf8').catch(() => '{"testResults":[]}');
  const { testResults } = JSON.parse(text) as Report;
  const pathOf = (name: string) => name.slice(root.length + 1);
  const failed = testResults
    .flatMap(({ name, assertionResults }) => assertionResults.map((test) => ({ ...test, name })))
    .find(({ status }) => status === 'failed');
  const message = testResults.map((result) => result.message ?? '').find((given) => given !== '');
  return {
    failure: failed?.fullName ?? message?.split('\n')[0] ?? 'no report',
    failedFiles: testResults.filter(({ status }) => status === 'failed').map(({ name }) => pathOf(name)),
    seconds: new Map(testResults.map(({ name, startTime, endTime }) => [pathOf(name), (endTime - startTime) / 1000])),
  };
}
