/**
 * `npm run bench:start`: time from the command to the first answer, with an empty data folder and again with an existing one, on the
 * embedded PostgreSQL; from there to the first page; and the CPU time of `daypass check`. `--database`: PostgreSQL is already running.
 * `--installed FOLDER`: the package in that folder's `node_modules` instead of the sources. Exits with 1 if a figure exceeds its target.
 * Needs an otherwise idle machine.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { execute, startPostgres, withDatabase } from '../test/support/global-postgres.ts';

const times = 7;
const aims = { second: 1.5, page: 0.3, check: 0.5 }; // seconds
const databaseName = 'bench_start';
const retry = { after: 10, within: 60_000 }; // ms, for a client that waits for the gateway
const { values: flags } = parseArgs({
  options: { database: { type: 'boolean', default: false }, installed: { type: 'string' } },
});
const root = join(import.meta.dirname, '..');
const program =
  flags.installed === undefined
    ? join(root, 'core/main.mjs')
    : resolve(flags.installed, 'node_modules/daypass/dist/core/main.mjs');
const postgres = flags.database ? await startPostgres() : undefined;
if (postgres !== undefined) await execute(postgres.url, `CREATE DATABASE ${databaseName}`);
const environment =
  postgres === undefined ? process.env : { ...process.env, DATABASE_URL: withDatabase(postgres.url, databaseName) };
const yaml = (port: number) => `
listen: { port: ${port}, notice_period: 0 }
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 1000, period: 60, burst: 1000, concurrent: 100 }
  - cache
  - format
  - upstream
  - log
upstreams: { demo: { vendor: demo } }
models: { demo: { routes: [demo/demo-chat] } }
`;

const folder = await mkdtemp(join(tmpdir(), 'daypass-bench-start-'));
// PostgreSQL may run as a different user, which must be able to enter the folder.
await chmod(folder, 0o755);
const file = join(folder, 'gateway.yaml');
const port = await freePort();
await writeFile(file, yaml(port));
let isOver = false;
try {
  console.log(`first start to first answer: ${formatSeconds((await startOnce()).answer)}`);
  const starts: Start[] = [];
  for (let time = 0; time < times; time++) starts.push(await startOnce());
  report(
    'second start to first answer',
    starts.map(({ answer }) => answer),
    aims.second,
  );
  report(
    'first answer to first page',
    starts.map(({ page }) => page),
    aims.page,
  );
  const checks = Array.from({ length: times }, measureCheckCpuSeconds);
  report('daypass check, processor time', checks, aims.check);
} finally {
  await rm(folder, { recursive: true, force: true });
  await postgres?.[Symbol.asyncDispose]();
}
process.exit(isOver ? 1 : 0);

interface Start {
  // in seconds
  readonly answer: number; // from the command to the complete answer to the first model call
  readonly page: number; // from there to the complete landing page
}

async function startOnce(): Promise<Start> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--disable-sigusr1', program, '--config', file, 'start'], {
    cwd: folder,
    env: environment,
    stdio: 'ignore',
  });
  try {
    await waitForFirstAnswer(began);
    const answered = performance.now();
    const page = await fetch(`http://127.0.0.1:${port}/`);
    if (!page.ok) throw new Error(`the landing page has status ${page.status}`);
    await page.arrayBuffer();
    return { answer: (answered - began) / 1_000, page: (performance.now() - answered) / 1_000 };
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
}

async function waitForFirstAnswer(began: number): Promise<void> {
  while (performance.now() - began < retry.within) {
    // The first start writes it just before it listens.
    const key = await readFile(join(folder, 'data', 'demo-key'), 'utf8').catch(() => undefined);
    const answer = key === undefined ? undefined : await ask(key.trim()).catch(() => undefined);
    if (answer?.status === 200) return;
    await sleep(retry.after);
  }
  throw new Error(`no answer within ${retry.within / 1_000} s`);
}

async function ask(key: string): Promise<Response> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }),
  });
  await answer.arrayBuffer();
  return answer;
}

function measureCheckCpuSeconds(): number {
  const { stderr, status } = spawnSync(
    'bash',
    ['-c', 'TIMEFORMAT="%U %S"; time "$0" "$1" --config "$2" check >/dev/null', process.execPath, program, file],
    { cwd: folder, env: environment, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`daypass check failed: ${stderr}`);
  const [user = 0, system = 0] = stderr.trim().split(' ').slice(-2).map(Number);
  return user + system;
}

function report(name: string, values: readonly number[], aim: number): void {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  if (middle > aim) isOver = true;
  console.log(
    `${name}: median ${formatSeconds(middle)}, least ${formatSeconds(sorted[0] ?? Number.NaN)}, of ${values.length} (aim: ${formatSeconds(aim)})`,
  );
}

function formatSeconds(value: number): string {
  return `${value.toFixed(2)} s`;
}
