/**
 * `npm run bench:counted`: what one request makes the gateway do, in numbers that do not depend on the machine's load. Fails if one exceeds
 * its budget (budget.json). `.ci/run` runs it.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { type Load, loads, sendLoad } from '../load.ts';
import type { Figures, Ready } from '../process-figures.ts';
import budgets from './budget.json' with { type: 'json' };
import type { Counts } from './counters.ts';

const rounds = 3; // the lowest counts, because background work is not part of a request
const warmUp = 300;

type Figure =
  | 'system calls'
  | 'promises'
  | 'timers'
  | 'heap bytes'
  | 'old heap bytes'
  | 'passes over the body'
  | 'part left to garbage';
type Budget = Partial<Record<Figure, number>>;

const upstream = await start('upstream.ts', []);
const gateway = await start('gateway.ts', [`http://127.0.0.1:${upstream.port}`]);
const measured = loads.filter(({ name }) => name in budgets).map((load) => ({ ...load, concurrency: 1 }));
const excesses: string[] = [];
try {
  const costs = new Map<string, Budget>();
  for (const load of measured)
    costs.set(load.name, { ...(await measureSystemCalls(load)), ...(await measureAllocations(load)) });
  // Counts come last, because counting itself makes calls and allocates objects.
  for (const load of measured) report(load, { ...costs.get(load.name), ...(await measureCounts(load)) });
} finally {
  for (const { child } of [gateway, upstream]) await stop(child);
}
for (const excess of excesses) console.error(excess);
process.exit(excesses.length === 0 ? 0 : 1);

function report(load: Load, figures: Budget): void {
  const budget: Budget = budgets[load.name as keyof typeof budgets];
  console.log(`${load.name}, per ${load.unitsPerRequest === 1 ? 'request' : 'event'}:`);
  for (const [name, limit] of Object.entries(budget)) {
    const value = figures[name as Figure];
    if (value === undefined) continue;
    console.log(`  ${name.padEnd(22)} ${value.toFixed(2).padStart(10)} of ${limit}`);
    if (value > limit) excesses.push(`${load.name}: ${value.toFixed(2)} ${name}, over the budget of ${limit}`);
  }
}

async function measureAllocations(load: Load): Promise<Budget> {
  const isEvents = load.unitsPerRequest > 1;
  await send(load, isEvents ? 1 : warmUp);
  // Needs many requests: V8 hands out its heap in areas larger than a few requests need, and background jobs allocate too.
  const { allocated, old } = await measureLowestGrowth(
    load,
    () => ask<Figures>('collect young'),
    isEvents ? 1 : warmUp,
  );
  return { 'heap bytes': allocated, 'old heap bytes': old };
}

async function measureCounts(load: Load): Promise<Budget> {
  const { promises, timers, walked, freed } = await measureLowestGrowth(load, () => ask<Counts>('counts'));
  const { length } = load.body;
  return { promises, timers, 'passes over the body': walked / length, 'part left to garbage': 1 - freed / length };
}

async function measureLowestGrowth<T extends object>(
  load: Load,
  read: () => Promise<T>,
  requests = requestsPerRound(load),
): Promise<T> {
  const grown: Record<string, number>[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = (await read()) as Record<string, number>;
    await send(load, requests);
    const after = Object.entries(await read()) as [string, number][];
    grown.push(Object.fromEntries(after.map(([name, value]) => [name, value - (before[name] ?? 0)])));
  }
  const units = requests * load.unitsPerRequest;
  const least = (name: string) => Math.min(...grown.map((round) => round[name] ?? 0)) / units;
  return Object.fromEntries(Object.keys(grown[0] ?? {}).map((name) => [name, least(name)])) as T;
}

function requestsPerRound({ unitsPerRequest }: Load): number {
  return unitsPerRequest === 1 ? 20 : 1;
}

function send(load: Load, requests: number): Promise<void> {
  return sendLoad(gateway.port, gateway.key, load, requests);
}

/** Returns an empty budget if strace is not installed or not permitted. */
async function measureSystemCalls(load: Load): Promise<Budget> {
  let least = Infinity;
  for (let round = 0; round < 2; round++) {
    const total = await countSystemCalls(() => send(load, requestsPerRound(load)));
    if (total === undefined) return {};
    least = Math.min(least, total);
  }
  return { 'system calls': least / requestsPerRound(load) / load.unitsPerRequest };
}

async function countSystemCalls(work: () => Promise<void>): Promise<number | undefined> {
  // strace follows only the event loop's thread.
  const tracer = spawn('strace', ['-c', '-p', String(gateway.child.pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let summary = '';
  const ended = new Promise<void>((end) => tracer.once('close', () => end()).once('error', () => end()));
  const attached = new Promise<void>((look) => {
    tracer.stderr.on('data', (chunk: Buffer) => {
      summary += chunk.toString();
      if (summary.includes('attached')) look();
    });
  });
  await Promise.race([attached, ended]);
  if (!summary.includes('attached')) return undefined;
  await work();
  tracer.kill('SIGINT');
  await ended;
  // The columns are: share of the time, seconds, µs per call, calls, and errors if there were any.
  const [, , , calls] = /^.*\btotal$/m.exec(summary)?.[0].trim().split(/\s+/) ?? [];
  return calls === undefined ? undefined : Number(calls);
}

async function start(file: string, parameters: string[]): Promise<Ready & { child: ChildProcess }> {
  const child = fork(resolve(import.meta.dirname, '..', file), parameters, { silent: true, execArgv: ['--expose-gc'] });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended before it was ready`)));
  const [ready] = (await Promise.race([once(child, 'message'), ended])) as [Ready];
  ended.catch(() => undefined);
  return { ...ready, child };
}

async function ask<T>(question: string): Promise<T> {
  const answered = once(gateway.child, 'message', { signal: AbortSignal.timeout(10_000) });
  gateway.child.send(question);
  const [answer] = (await answered) as [T];
  return answer;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
