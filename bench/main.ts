/**
 * `npm run bench`: CPU time of the gateway and of a bare forwarder, measured alternately in one run. With `--memory`, also
 * the memory growth over 100,000 requests. With `--dashboards`, only what open home pages cost. With `--against FOLDER`, this
 * checkout's gateway and the one in that folder, alternately, all on one PostgreSQL.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureDashboards } from './dashboards.ts';
import { type Load, loads, sendLoad, translations } from './load.ts';
import type { Figures, Ready } from './process-figures.ts';
import { execute, startPostgres, withDatabase } from '../test/support/global-postgres.ts';
import { describeRatios, median } from './statistics.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 7);
/** By this factor the rounds against another checkout are shorter, and more of them. */
const shorter = 8;
/** Ms until a process must report its figures; a dead one never does. */
const reportTimeout = 10_000;

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
  readonly throughput: number; // requests a second
}

const upstream = await start('upstream', 'upstream.ts', []);
const url = `http://127.0.0.1:${upstream.port}`;
// The gateways of two checkouts share a server: one each would take memory and time of the machine.
const postgres = flags.against === undefined ? undefined : await startPostgres();
const databases: string[] = [];
const bare = await start('bare forwarder', 'bare.ts', [url]);
const gateway = await startGateway('gateway');
const checkouts = flags.against === undefined ? [] : await startPairs(flags.against);
try {
  if (checkouts.length > 0) await compareWith(checkouts);
  else if (flags.dashboards) await measureOpenPages();
  else await compareAll();
  if (flags.memory) await watchMemory();
} finally {
  for (const subject of new Set([gateway, bare, upstream, ...checkouts.flatMap(({ own, other }) => [own, other])]))
    await stop(subject);
  if (postgres !== undefined) {
    for (const name of databases) await execute(postgres.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await postgres[Symbol.asyncDispose]();
  }
}
process.exit(0);

async function compareAll(): Promise<void> {
  for (const load of loads) await compare(load);
  for (const pair of translations) await compareTranslation(pair.translated, pair.passed);
}

/** A gateway of this checkout and one of another. */
interface Pair {
  readonly own: Subject;
  readonly other: Subject;
}

/**
 * The other checkout's gateways have its own code and packages. Two checkouts, because the gateway that is started first has used up to
 * a tenth more processor time than the same one started second: in each pair another one is first.
 */
async function startPairs(folder: string): Promise<Pair[]> {
  const startOther = () => startGateway('other gateway', resolve(folder, 'bench/gateway.ts'));
  const [first, second] = [await startOther(), await startOther()];
  return [
    { own: gateway, other: first },
    { own: await startGateway('second gateway'), other: second },
  ];
}

/**
 * Many short rounds instead of few long ones: what disturbs this machine lasts seconds, and meets both checkouts. The order within
 * a round alternates, so that a machine that becomes slower does not favour either.
 */
async function compareWith(all: readonly Pair[]): Promise<void> {
  for (const load of [...loads, ...translations.map(({ translated }) => translated)]) {
    for (const { own, other } of all)
      for (const subject of [other, own]) await sendLoad(subject.port, subject.key, load, 2 * load.requests);
    const short = { ...load, requests: Math.max(load.concurrency, Math.round(load.requests / shorter)) };
    const ratios: number[] = [];
    const costs: number[] = [];
    for (let round = 0; round < rounds * shorter; round++) {
      const { own, other } = all[Math.floor(round / 2) % all.length] as Pair;
      const order = round % 2 === 0 ? [other, own] : [own, other];
      const measured = new Map<Subject, Measure>();
      for (const subject of order) measured.set(subject, await measure(subject, short));
      const cost = measured.get(own)?.cpu ?? Number.NaN;
      costs.push(cost);
      ratios.push(cost / (measured.get(other)?.cpu ?? Number.NaN));
    }
    console.log(
      `${load.name}: ${median(costs).toFixed(1)} µs CPU, × the other checkout ${describeRatios(ratios)}; ${ratios.length} rounds of ${short.requests} requests`,
    );
  }
}

async function measureOpenPages(): Promise<void> {
  const { port, visitors = [] } = gateway;
  const load = { ...(loads[0] as Load), requests: 10_000 };
  await measureDashboards({ port, visitors, figures: () => ask(gateway) }, load, rounds);
}

/** On its embedded PostgreSQL, or in a database of the shared one. */
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
  return { ...ready, name, process: child };
}

async function stop({ process: child }: Subject): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function ask(subject: Subject, question: 'figures' | 'collect' = 'figures'): Promise<Figures> {
  const signal = AbortSignal.timeout(reportTimeout);
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

async function compare(load: Load): Promise<void> {
  for (const subject of [bare, gateway]) await sendLoad(subject.port, subject.key, load);
  const pairs: { bare: Measure; gateway: Measure }[] = [];
  for (let round = 0; round < rounds; round++) {
    pairs.push({ bare: await measure(bare, load), gateway: await measure(gateway, load) });
  }
  const unit = load.unitsPerRequest === 1 ? 'request' : 'event';
  console.log(`${load.name}: ${rounds} rounds of ${load.requests} requests, ${load.concurrency} at once`);
  for (const name of ['bare', 'gateway'] as const) {
    const cpu = median(pairs.map((pair) => pair[name].cpu));
    const throughput = median(pairs.map((pair) => pair[name].throughput));
    console.log(
      `  ${name.padEnd(8)} ${cpu.toFixed(1).padStart(8)} µs CPU per ${unit} ${throughput.toFixed(0).padStart(7)} requests/s`,
    );
  }
  const ratio = median(pairs.map((pair) => pair.gateway.cpu / pair.bare.cpu));
  console.log(`  ratio    ${ratio.toFixed(2).padStart(8)} × (aim: at most ${load.aim.toFixed(1)})`);
}

/** CPU time of translation over passing through, inside the gateway. */
async function compareTranslation(translated: Load, passed: Load): Promise<void> {
  for (const load of [translated, passed]) await sendLoad(gateway.port, gateway.key, load);
  const pairs: { translated: Measure; passed: Measure }[] = [];
  for (let round = 0; round < rounds; round++) {
    pairs.push({ translated: await measure(gateway, translated), passed: await measure(gateway, passed) });
  }
  console.log(`stream of 200 events, ${translated.name}: ${rounds} rounds of ${translated.requests} requests`);
  for (const name of ['passed', 'translated'] as const) {
    console.log(
      `  ${name.padEnd(10)} ${median(pairs.map((pair) => pair[name].cpu))
        .toFixed(1)
        .padStart(6)} µs CPU per event`,
    );
  }
  const ratio = median(pairs.map((pair) => pair.translated.cpu / pair.passed.cpu));
  console.log(`  ratio      ${ratio.toFixed(2).padStart(6)} × (aim: at most ${translated.aim.toFixed(1)})`);
}

async function watchMemory(): Promise<void> {
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
