/**
 * `npm run bench:workers`: processor time and throughput of one process and of several (`-- --workers 2`) on this machine, in turns.
 * PostgreSQL is the embedded one, Redis from the PATH; the processor time of both is not counted.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { startChild, stopChild } from './child.ts';
import { type Load, loads, sendLoad } from './load.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 7);
/** Of Linux, whatever its kernel was built with: what /proc counts in. */
const ticksPerSecond = 100;
const redisPort = 16_399;

const { values: flags } = parseArgs({ options: { workers: { type: 'string', default: '2' } } });

interface Subject {
  readonly process: ChildProcess;
  readonly port: number;
  readonly key: string;
}

interface Measure {
  readonly cpu: number; // µs per unit
  readonly throughput: number; // requests a second
}

const folder = await mkdtemp(join(tmpdir(), 'daypass-bench-'));
// PostgreSQL may run as another user, which must be able to enter.
await chmod(folder, 0o755);
const redis = spawn('redis-server', ['--port', String(redisPort), '--save', ''], { stdio: 'ignore', cwd: folder });
const upstream = await startChild('upstream.ts', []);
const one = await start('1', 1);
const several = await start(flags.workers, 2);
try {
  for (const load of loads) await compare(load);
} finally {
  for (const child of [one.process, several.process, upstream.process, redis]) await stopChild(child);
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

/** @param database of Redis */
async function start(workers: string, database: number): Promise<Subject> {
  const file = join(folder, `${database}.yaml`);
  const unreached = 1_000_000;
  await writeFile(
    file,
    `listen: { port: 0, notice_period: 0 }
operator: { enabled: false }
workers: ${workers}
data: { folder: ./data-${database} }
pipeline:
  - auth
  - plan
  - rate-limit: { limit: ${unreached}, period: 1, burst: ${unreached}, concurrent: ${unreached} }
  - cache
  - format
  - upstream
  - log
upstreams: { bench: { format: chat, base_url: "http://127.0.0.1:${upstream.port}/v1" } }
models: { bench: { routes: [bench/elsewhere] } }
`,
  );
  const child = spawn(process.execPath, ['core/main.mjs', '--config', file, 'start'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      LOG_FORMAT: 'text',
      LOG_LEVEL: 'error',
      REDIS_URL: `redis://127.0.0.1:${redisPort}/${database}`,
    },
  });
  let output = '';
  for await (const line of createInterface({ input: child.stdout })) {
    output += `${line}\n`;
    if (line.startsWith('  curl ')) break;
  }
  const [, port] = /Base URL\s+http\S+:(\d+)\/v1/.exec(output) ?? [];
  const [, key] = /Demo key\s+(\S+)/.exec(output) ?? [];
  if (port === undefined || key === undefined) throw new Error(`the gateway did not start:\n${output}`);
  return { process: child, port: Number(port), key };
}

async function compare(load: Load): Promise<void> {
  for (const { port, key } of [one, several]) await sendLoad(port, key, load, 2 * load.requests);
  const pairs: { readonly one: Measure; readonly several: Measure }[] = [];
  for (let round = 0; round < rounds; round++) {
    // The order alternates, so that a machine that becomes slower does not favour either.
    if (round % 2 === 0) pairs.push({ one: await measure(one, load), several: await measure(several, load) });
    else pairs.push({ several: await measure(several, load), one: await measure(one, load) });
  }
  const ratio = (of: keyof Measure) => median(pairs.map((pair) => pair.several[of] / pair.one[of])).toFixed(2);
  const cost = (of: 'one' | 'several') => median(pairs.map((pair) => pair[of].cpu)).toFixed(0);
  console.log(
    `${load.name}, ${rounds} rounds of ${load.requests}: CPU ${cost('one')} µs with 1 process, ${cost('several')} with ${flags.workers} (${ratio('cpu')} ×); throughput ${ratio('throughput')} ×; load ${loadavg()[0]?.toFixed(0)}`,
  );
}

async function measure({ process: { pid }, port, key }: Subject, load: Load): Promise<Measure> {
  const before = cpuOf(pid as number);
  const began = performance.now();
  await sendLoad(port, key, load);
  const seconds = (performance.now() - began) / 1000;
  return {
    cpu: (cpuOf(pid as number) - before) / (load.requests * load.unitsPerRequest),
    throughput: load.requests / seconds,
  };
}

/** µs of a process and of the Node.js processes that it has started. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  if (stat.includes('(postgres)')) return 0;
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return ((user + system) * 1_000_000) / ticksPerSecond + children.reduce((sum, child) => sum + cpuOf(child), 0);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
