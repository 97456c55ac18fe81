/**
 * `npm run bench:workers`: CPU time and throughput of one process and of several (`-- --workers 2`) on this machine, alternating; `--load
 * small` for a single load. Each has an embedded PostgreSQL, and Redis from the PATH, whose CPU time is not counted.
 *
 * A busy process has many requests in each turn of its event loop and its code in the CPU caches, so the busier it is, the less a request
 * costs. One process and several are therefore compared in two ways: with the same total number of requests, and with the same number per
 * process. Both are done with a fixed number of requests in flight and at fixed rates.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { startChild, stopChild } from './child.ts';
import { type Load, loads, sendLoad, sendSteadily } from './load.ts';
import { benchPipeline } from './pipeline.ts';
import { median } from './statistics.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 7);
const warmUps = 10; // V8 keeps compiling during the first 30,000 small calls of each process
const rates = [0.3, 0.6, 0.9]; // of the requests per second that one process answered with a fixed number in flight
const steadySeconds = 3; // less than the quiet time after which an idle process collects garbage
const redisPort = 16_399;

const { values: flags } = parseArgs({
  options: { workers: { type: 'string', default: '2' }, load: { type: 'string', default: '' } },
});

interface Subject {
  readonly process: ChildProcess;
  readonly processes: number;
  readonly port: number;
  readonly key: string;
}

interface Measure {
  readonly cpu: number; // µs per unit
  readonly throughput: number; // requests per second
}

const folder = await mkdtemp(join(tmpdir(), 'daypass-bench-'));
// PostgreSQL may run as a different user, which must be able to enter the folder.
await chmod(folder, 0o755);
const redis = spawn('redis-server', ['--port', String(redisPort), '--save', ''], { stdio: 'ignore', cwd: folder });
const upstream = await startChild('upstream.ts', []);
const one = await start('1', 1);
const several = await start(flags.workers, 2);
try {
  for (const load of loads.filter(({ name }) => name.startsWith(flags.load))) await compare(load);
} finally {
  for (const child of [one.process, several.process, upstream.process, redis]) await stopChild(child);
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

async function start(workers: string, redisDatabase: number): Promise<Subject> {
  const file = join(folder, `${redisDatabase}.yaml`);
  await writeFile(
    file,
    `listen: { port: 0, notice_period: 0 }
operator: { enabled: false }
workers: ${workers}
data: { folder: ./data-${redisDatabase} }${benchPipeline(`http://127.0.0.1:${upstream.port}`)}`,
  );
  const child = spawn(process.execPath, ['core/main.mjs', '--config', file, 'start'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      LOG_FORMAT: 'text',
      LOG_LEVEL: 'error',
      REDIS_URL: `redis://127.0.0.1:${redisPort}/${redisDatabase}`,
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
  return { process: child, processes: Number(workers), port: Number(port), key };
}

async function compare(load: Load): Promise<void> {
  const each = (subject: Subject) =>
    measure(subject, {
      ...load,
      requests: load.requests * subject.processes,
      concurrency: load.concurrency * subject.processes,
    });
  for (let round = 0; round < warmUps; round++) for (const subject of [one, several]) await each(subject);
  const { throughput } = await reportMedians(`${load.name}, ${load.concurrency} at once`, (subject) =>
    measure(subject, load),
  );
  await reportMedians(`${load.name}, ${load.concurrency} at once for each process`, each);
  for (const part of rates) {
    const rate = part * throughput;
    const steady = (subject: Subject, processes: number) =>
      measure(subject, { ...load, requests: Math.ceil(rate * steadySeconds) * processes }, rate * processes);
    const name = `${load.name}, ${rate.toFixed(0)} a second (${part * 100} %)`;
    await reportMedians(name, (subject) => steady(subject, 1));
    if (part * several.processes < 1)
      await reportMedians(`${name} for each process`, (subject) => steady(subject, subject.processes));
  }
}

/** Returns the medians of the single process. */
async function reportMedians(name: string, take: (subject: Subject) => Promise<Measure>): Promise<Measure> {
  const pairs: { readonly one: Measure; readonly several: Measure }[] = [];
  for (let round = 0; round < rounds; round++) {
    // The order alternates, so that a machine that slows down favors neither.
    if (round % 2 === 0) pairs.push({ one: await take(one), several: await take(several) });
    else pairs.push({ several: await take(several), one: await take(one) });
  }
  const ratio = (of: keyof Measure) => median(pairs.map((pair) => pair.several[of] / pair.one[of])).toFixed(2);
  const middle = (who: 'one' | 'several', of: keyof Measure) => median(pairs.map((pair) => pair[who][of]));
  console.log(
    `${name}: CPU ${middle('one', 'cpu').toFixed(0)} µs with 1 process, ${middle('several', 'cpu').toFixed(0)} with ${several.processes} (${ratio('cpu')} ×); throughput ${ratio('throughput')} ×; ${rounds} rounds, load ${loadavg()[0]?.toFixed(0)}`,
  );
  return { cpu: middle('one', 'cpu'), throughput: middle('one', 'throughput') };
}

/** @param rate requests per second; undefined for a fixed number in flight */
async function measure({ process: { pid }, port, key }: Subject, load: Load, rate?: number): Promise<Measure> {
  const before = readCpuUs(pid as number);
  const began = performance.now();
  if (rate === undefined) await sendLoad(port, key, load);
  else await sendSteadily(port, key, load, rate);
  const seconds = (performance.now() - began) / 1000;
  return {
    cpu: (readCpuUs(pid as number) - before) / (load.requests * load.unitsPerRequest),
    throughput: load.requests / seconds,
  };
}

/** Includes the Node.js processes that the process started. */
function readCpuUs(pid: number): number {
  if (readFileSync(`/proc/${pid}/comm`, 'utf8') === 'postgres\n') return 0;
  let sum = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const read = (name: string) => readFileSync(`/proc/${pid}/task/${task}/${name}`, 'utf8').split(' ').filter(Boolean);
    sum += Number(read('schedstat')[0]) / 1000;
    for (const child of read('children')) sum += readCpuUs(Number(child));
  }
  return sum;
}
