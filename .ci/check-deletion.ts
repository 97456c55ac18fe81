/**
 * Removes each capability in `deletion.yaml` from a copy of the tree, with its views and tests, and checks that the rest still works:
 *
 * - `imports`, `pages`: the checks of these names, and that no deleted text is still used
 * - `commands`: gateway.yaml is valid without the capability's lines, rejected by name with its sections, and all help texts are printed
 * - `served`: the gateway starts, responds and shows every page
 * - `types`: the compiler
 * - `unit`: the unit tests
 *
 * The first two read the files once for all capabilities, the third starts a process for each. The others run only with `--all` or if
 * they are named.
 *
 *     npm run check:deletion -- --only midtrans,xendit --stages served,types
 */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { copyDatabase, startPostgres, type TestPostgres, withDatabase } from '../test/support/global-postgres.ts';
import {
  type Capability,
  type DeletionTable,
  findLostTexts,
  compareFailures,
  notAFolder,
  readCapabilities,
  rowsOf,
} from './deletion-rules.ts';
import { checkImports } from './import-check.ts';
import { checkPages, readPages, textKeysOf } from './page-check.ts';
import { openTree, treeWithout } from './source-tree.ts';

const root = join(import.meta.dirname, '..');
const stages = { imports, pages, commands, served, types, unit };
type Stage = keyof typeof stages;
const quick: readonly Stage[] = ['imports', 'pages', 'commands']; // take at most a second per capability

/** The test recognizes the gateway's modules by their folder, which fails in a copy, because its packages are elsewhere. */
const failingInCopies = new Set(['test/core/extension/validation/plugins.test.ts']);

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, stages: { type: 'string' }, all: { type: 'boolean', default: false } },
});
const chosen = options.stages?.split(',') ?? (options.all ? Object.keys(stages) : quick);
const unknown = chosen.filter((stage) => !(stage in stages));
if (unknown.length > 0) throw new Error(`no stage ${unknown.join(', ')}; there are ${Object.keys(stages).join(', ')}`);

const whole = openTree(root);
const table = rowsOf(parse(whole.read('.ci/deletion.yaml')) as DeletionTable, whole.read('docs/architecture.md'));
const capabilities = readCapabilities(table, whole.find);
const pageIndex = readPages(whole);
const only = options.only?.split(',');
const copy = mkdtempSync(join(tmpdir(), 'daypass-deletion-')); // stages that execute the product run here
const aside = mkdtempSync(join(tmpdir(), 'daypass-deleted-'));
let postgres: TestPostgres | undefined;
const mistakes: string[] = [];
try {
  copyTree();
  if (chosen.includes('served')) postgres = await startPostgres();
  for (const capability of capabilities.filter(({ name }) => only?.includes(name) ?? true)) await check(capability);
} finally {
  await postgres?.[Symbol.asyncDispose]();
  rmSync(copy, { recursive: true, force: true });
  rmSync(aside, { recursive: true, force: true });
}
for (const line of mistakes) console.error(line);
process.exit(mistakes.length > 0 ? 1 : 0);

function copyTree(): void {
  for (const path of whole.find(
    '{core,plugins,views,migrations,test,bench,docs,deploy,findings,.ci,.github,.ox*.json,*.json,*.md,LICENSE,gateway.yaml}',
  ))
    if (path !== 'node_modules') cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

async function check(capability: Capability): Promise<void> {
  const { name, of } = capability;
  if (of === undefined) {
    console.log(`${name}: ${notAFolder}`);
    return;
  }
  move(of, copy, aside);
  const counts: string[] = [];
  try {
    // Its processes run while this one reads files.
    const running = chosen.includes('commands') ? commands(capability) : [];
    for (const stage of chosen as Stage[]) {
      const failures = [...new Set(await (stage === 'commands' ? running : stages[stage](capability)))].toSorted();
      mistakes.push(...compareFailures(capability, stage, failures));
      counts.push(`${stage} ${failures.length === 0 ? 'hold' : `fail ${failures.length} times`}`);
    }
  } finally {
    move(of, aside, copy);
  }
  console.log(`${name}: ${counts.join(', ')}`);
}

function move(paths: readonly string[], from: string, to: string): void {
  for (const path of paths) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    renameSync(join(from, path), join(to, path));
  }
}

function imports({ of = [] }: Capability): readonly string[] {
  return checkImports(treeWithout(whole, of)).mistakes.map(firstLine);
}

function pages({ of = [] }: Capability): readonly string[] {
  const tree = treeWithout(whole, of);
  const sources = tree.find('{core,plugins}/**/*.ts');
  const texts = new Map(sources.map((file) => [file, tree.read(file)]));
  const kept = new Set(textKeysOf(tree));
  return [...checkPages(tree, pageIndex).mistakes.map(firstLine), ...findLostTexts(textKeysOf(whole), kept, texts)];
}

function firstLine(mistake: string): string {
  return mistake.split('\n', 1)[0] ?? '';
}

async function commands({ name, lines }: Capability): Promise<readonly string[]> {
  return extractFailures(await run(['.ci/try-commands.ts', name, JSON.stringify(lines)]));
}

async function served({ name, lines }: Capability): Promise<readonly string[]> {
  const { url = '', templateDatabase = '' } = postgres ?? {};
  const database = `daypass_without_${name.replaceAll('-', '_')}`;
  await copyDatabase(url, templateDatabase, database);
  return extractFailures(await run(['.ci/try-pages.ts', withDatabase(url, database), JSON.stringify(lines)]));
}

async function types(): Promise<readonly string[]> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { code, output } = await run([compiler, '--tsBuildInfoFile', join(aside, 'tsbuildinfo.json')], 600);
  const found = output.matchAll(/^([^\s(]+)\(\d+,\d+\): error (TS\d+)/gm);
  return addUnexplainedFailure(
    code,
    [...found].map(([, file, error]) => `${file}: ${error}`),
  );
}

async function unit(): Promise<readonly string[]> {
  // Tests of the documentation list the files in git.
  for (const words of [
    ['init', '-q'],
    ['add', '-A'],
  ])
    execFileSync('git', words, { cwd: copy });
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const report = join(aside, 'unit.json');
  const output = ['--reporter', 'json', '--outputFile', report];
  const { code } = await run([vitest, 'run', '--config', 'test/vitest.config.ts', '--project', 'unit', ...output], 900);
  const { testResults: files } = existsSync(report)
    ? (JSON.parse(readFileSync(report, 'utf8')) as { testResults: { name: string; status: string }[] })
    : { testResults: [] };
  rmSync(report, { force: true });
  const failed = files.filter(({ status }) => status === 'failed');
  return addUnexplainedFailure(
    files.length > 0 ? 0 : code,
    failed.map(({ name }) => name.slice(copy.length + 1)).filter((file) => !failingInCopies.has(file)),
  );
}

interface RunResult {
  readonly code: number;
  readonly output: string; // stdout and stderr
  readonly errors: string;
}

/** All runs share a compile cache. */
function run(parameters: readonly string[], seconds = 60): Promise<RunResult> {
  return new Promise((resolve) => {
    const cache = join(aside, 'compiled');
    const environment = { ...process.env, NODE_ENV: '', LOG_FORMAT: 'text', NODE_COMPILE_CACHE: cache };
    const limits = { timeout: seconds * 1000, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, parameters, { cwd: copy, env: environment, ...limits }, (error, output, errors) =>
      resolve({ code: error === null ? 0 : 1, output, errors }),
    );
  });
}

/** If the check itself crashed, returns its error. */
function extractFailures({ code, errors }: RunResult): readonly string[] {
  if (code === 0) return [];
  const crash = /^(?:\w*Error)\b.*$/m.exec(errors);
  const plain = errors.replaceAll(copy, '').split('\n');
  const lines = crash === null ? plain.filter((line) => /^[^\s(]/.test(line)) : [crash[0].replaceAll(copy, '')];
  return addUnexplainedFailure(code, lines);
}

/** A process that fails without printing anything counts as one failure. */
function addUnexplainedFailure(code: number, lines: readonly string[]): readonly string[] {
  return code === 0 || lines.length > 0 ? lines : ['failed, or took too long, and said nothing'];
}
