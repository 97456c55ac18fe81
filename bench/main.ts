/**
 * `npm run bench`: CPU time of the gateway and of a bare forwarder, measured alternately in one run. `--memory` also measures memory growth
 * over 100,000 requests. `--dashboards` measures only what open home pages cost. `--against FOLDER` alternates between this checkout's
 * gateway and the one in that folder, on one PostgreSQL, in BENCH_PAIRS pairs of new processes.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { execute, startPostgres, withDatabase } from '../test/support/global-postgres.ts';
import { measureDashboards } from './dashboards.ts';
import { type Load, loads, sendLoad, translations } from './load.ts';
import type { Figures, Ready } from './process-figures.ts';
import { describeRatios, median } from './statistics.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 7);
const pairs = Number(process.env['BENCH_PAIRS'] ?? 8); // of processes, when comparing with another checkout
/** Their rounds are shorter by this factor. Below 1, several waves of streams share a round, and the starts of requests weigh less in it. */
const shorter = Number(process.env['BENCH_SHORTER'] ?? 8);
const only = process.env['BENCH_ONLY'] ?? ''; // loads to compare, by a part of their names; default: all
/** V8 keeps compiling for that long, and what it compiles first differs between processes. */
const warmingCalls = 24_000;
const reportTimeoutMs = 10_000; // a dead process never reports

const { values: flags } = parseArgs({
  options: {
    dashboards: { type: 'boolean', default: false },
    memory: { type: 'boolean', default: false },
    against: { type: 'string' },
  },
});

interface Subject extends Ready {
  readonly name: string;
  readonly process: ChildProcess;
}

interface Measure {
  readonly cpu: number; // µs per unit
  readonly throughput: number; // requests per second
}

const running = new Set<Subject>();
const upstream = await start('upstream', 'upstream.ts', []);
const url = `http://127.0.0.1:${upstream.port}`;
// The gateways of two checkouts share a server; two servers would take memory and time from the machine.
const postgres = flags.against === undefined ? undefined : await startPostgres();
const databases: string[] = [];
try {
  if (flags.against === undefined) await measureAlone();
  else await compareWith(flags.against);
} finally {
  for (const subject of running) await stop(subject);
  if (postgres !== undefined) {
    for (const name of databases) await execute(postgres.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await postgres[Symbol.asyncDispose]();
  }
}
process.exit(0);

async function measureAlone(): Promise<void> {
  const gateway = await startGateway('gateway');
  if (flags.dashboards) await measureOpenPages(gateway);
  else {
    const bare = await start('bare forwarder', 'bare.ts', [url]);
    for (const load of loads) await compare(load, gateway, bare);
    for (const pair of translations) await compareTranslation(gateway, pair.translated, pair.passed);
  }
  if (flags.memory) await watchMemory(gateway);
}

interface Pair {
  readonly own: Subject;
  readonly other: Subject;
}

/**
 * Each pair has two new processes. Two processes of the same code can differ by up to a tenth for their whole lives, because V8 compiles
 * them differently, and the one started first has often used more. So a pair counts as one figure, however many rounds it has, and the
 * checkout that is started first alternates.
 */
async function compareWith(folder: string): Promise<void> {
  const all = [...loads, ...translations.map(({ translated }) => translated)].filter(({ name }) => name.includes(only));
  const figures = all.map((load) => ({ load, costs: [] as number[], ratios: [] as number[] }));
  for (let index = 0; index < pairs; index++) {
    const pair = await startPair(folder, index % 2 === 0);
    for (const { port, key } of [pair.own, pair.other]) await sendLoad(port, key, loads[0] as Load, warmingCalls);
    for (const { load, costs, ratios } of figures) {
      const { own, other } = await comparePair(pair, load);
      costs.push(own);
      ratios.push(own / other);
    }
    await stop(pair.own);
    await stop(pair.other);
    const last = figures.map(({ load, ratios }) => `${load.name} ${ratios.at(-1)?.toFixed(3)}`);
    console.log(`pair ${index + 1} of ${pairs}: ${last.join(', ')}`);
  }
  for (const { load, costs, ratios } of figures) {
    const cost = median(costs).toFixed(1);
    console.log(
      `${load.name}: ${cost} µs CPU, × the other checkout ${describeRatios(ratios)}; ${pairs} pairs of processes`,
    );
  }
}

async function startPair(folder: string, isOwnFirst: boolean): Promise<Pair> {
  const file = resolve(folder, 'bench/gateway.ts');
  if (isOwnFirst) return { own: await startGateway('gateway'), other: await startGateway('other gateway', file) };
  const other = await startGateway('other gateway', file);
  return { own: await startGateway('gateway'), other };
}

/**
 * Many short rounds instead of a few long ones: disturbances on a machine last seconds, and so affect both checkouts. The order within a
 * round alternates, so that a machine that slows down favors neither. Returns µs of CPU time per unit.
 */
async function comparePair({ own, other }: Pair, load: Load): Promise<{ own: number; other: number }> {
  for (const { port, key } of [other, own]) await sendLoad(port, key, load);
  const short = { ...load, requests: Math.max(load.concurrency, Math.round(load.requests / shorter)) };
  const costs = new Map<Subject, number[]>([
    [own, []],
    [other, []],
  ]);
  for (let round = 0; round < rounds; round++)
    for (const subject of round % 2 === 0 ? [other, own] : [own, other])
      costs.get(subject)?.push((await measure(subject, short)).cpu);
  return { own: median(costs.get(own) ?? []), other: median(costs.get(other) ?? []) };
}

async function measureOpenPages(gateway: Subject): Promise<void> {
  const { port, visitors = [] } = gateway;
  const load = { ...(loads[0] as Load), requests: 10_000 };
  await measureDashboards({ port, visitors, figures: () => ask(gateway) }, load, rounds);
}

async function startGateway(name: string, file = 'gateway.ts'): Promise<Subject> {
  if (postgres === undefined) return start(name, file, [url]);
  const database = `daypass_bench_${randomUUID().replaceAll('-', '')}`;
  databases.push(database);
  await execute(postgres.url, `CREATE DATABASE ${database} TEMPLATE template0`);
  return start(name, file, [url, withDatabase(postgres.url, database)]);
}

async function start(name: string, file: string, parameters: string[]): Promise<Subject> {
  const child = fork(resolve(import.meta.dirname, file), parameters, { execArgv: ['--expose-gc'] });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`the ${name} ended before it was ready`)));
  const [ready] = (await Promise.race([once(child, 'message'), ended])) as [Ready];
  ended.catch(() => undefined);
  const subject = { ...ready, name, process: child };
  running.add(subject);
  return subject;
}

async function stop(subject: Subject): Promise<void> {
  const { process: child } = subject;
  running.delete(subject);
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function ask(subject: Subject, question: 'figures' | 'collect' = 'figures'): Promise<Figures> {
  const signal = AbortSignal.timeout(reportTimeoutMs);
  const answered = once(subject.process, 'message', { signal });
  subject.process.send(question);
  const [figures] = (await answered) as [Figures];
  return figures;
}

async function measure(subject: Subject, load: Load): Promise<Measure> {
  const before = await ask(subject);
  const began = performance.now();
  await sendLoad(subject.port, subject.key, load);
  const seconds = (performance.now() - began) / 1000;
  const after = await ask(subject);
  return {
    cpu: (after.cpu - before.cpu) / (load.requests * load.unitsPerRequest),
    throughput: load.requests / seconds,
  };
}

async function compare(load: Load, gateway: Subject, bare: Subject): Promise<void> {
  for (const subject of [bare, gateway]) await sendLoad(subject.port, subject.key, load);
  const measured: { bare: Measure; gateway: Measure }[] = [];
  for (let round = 0; round < rounds; round++) {
    measured.push({ bare: await measure(bare, load), gateway: await measure(gateway, load) });
  }
  const unit = load.unitsPerRequest === 1 ? 'request' : 'event';
  console.log(`${load.name}: ${rounds} rounds of ${load.requests} requests, ${load.concurrency} at once`);
  for (const name of ['bare', 'gateway'] as const) {
    const cpu = median(measured.map((pair) => pair[name].cpu));
    const throughput = median(measured.map((pair) => pair[name].throughput));
    console.log(
      `  ${name.padEnd(8)} ${cpu.toFixed(1).padStart(8)} µs CPU per ${unit} ${throughput.toFixed(0).padStart(7)} requests/s`,
    );
  }
  const ratio = median(measured.map((pair) => pair.gateway.cpu / pair.bare.cpu));
  console.log(`  ratio    ${ratio.toFixed(2).padStart(8)} × (aim: at most ${load.aim.toFixed(1)})`);
}

async function compareTranslation(gateway: Subject, translated: Load, passed: Load): Promise<void> {
  for (const load of [translated, passed]) await sendLoad(gateway.port, gateway.key, load);
  const measured: { translated: Measure; passed: Measure }[] = [];
  for (let round = 0; round < rounds; round++) {
    measured.push({ translated: await measure(gateway, translated), passed: await measure(gateway, passed) });
  }
  console.log(`stream of 200 events, ${translated.name}: ${rounds} rounds of ${translated.requests} requests`);
  for (const name of ['passed', 'translated'] as const) {
    console.log(
      `  ${name.padEnd(10)} ${median(measured.map((pair) => pair[name].cpu))
        .toFixed(1)
        .padStart(6)} µs CPU per event`,
    );
  }
  const ratio = median(measured.map((pair) => pair.translated.cpu / pair.passed.cpu));
  console.log(`  ratio      ${ratio.toFixed(2).padStart(6)} × (aim: at most ${translated.aim.toFixed(1)})`);
}

async function watchMemory(gateway: Subject): Promise<void> {
  const [small] = loads as [Load];
  await sendLoad(gateway.port, gateway.key, small, 10_000);
  const early = await ask(gateway, 'collect');
  await sendLoad(gateway.port, gateway.key, small, 90_000);
  const late = await ask(gateway, 'collect');
  const growth = (late.memory / early.memory - 1) * 100;
  console.log(
    `memory: ${megabytes(early.memory)} after 10,000 more requests, ${megabytes(late.memory)} after 100,000: ${growth.toFixed(1)} % (aim: at most 10 %)`,
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1048576).toFixed(0)} MB`;
}
