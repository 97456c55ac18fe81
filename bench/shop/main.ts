/**
 * `npm run bench:shop`: what a customer's call costs in a shop: a gateway started as by `npm start`, 200 customers, calls at the rates of a
 * shop, and the first calls after a pause, compared with two bare forwarders. Counts only the CPU time of the measured process. Linux only;
 * needs an otherwise idle machine, and takes minutes, more for each option.
 *
 *     npm run bench:shop                                  all of it, once
 *     npm run bench:shop -- --rounds 3                    the median of three
 *     npm run bench:shop -- --quiet 60 --quiet 3600       seconds of quiet before the first call; default: 0 and 60
 *     npm run bench:shop -- --rate 0 --calls 20000        no calls at a fixed rate, and fewer at full speed
 *     npm run bench:shop -- --accounts 1 --by undici      one factor differs
 *     npm run bench:shop -- --variant='--no-flush-bytecode --retain-maps-for-n-gc=9'
 *                                                         an additional gateway with these Node.js flags; repeatable
 *     npm run bench:shop -- --against FOLDER              another checkout, compared with this one
 *     npm run bench:shop -- --first 50 --rounds 20 --quiet 60 --rate 0
 *                                                         how long the first 50 calls take, one at a time, compared with 50 of a
 *                                                         warm process; `--load stream`: how long their first event takes
 *     npm run bench:shop -- --upstream-port 9999 --peer NAME=http://127.0.0.1:PORT=PID
 *                                                         a gateway that is already running, with a model `bench` at the
 *                                                         upstream on that port
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../test/support/global-postgres.ts';
import { startChild, stopChild } from '../child.ts';
import { type Load, loads } from '../load.ts';
import { readRunningPeer } from '../running-peer.ts';
import { describeRatios, median, quantile } from '../statistics.ts';
import { callAtOnce, callAtRate, callOneByOne, type Generator, generators } from './callers.ts';
import { createEmptyDatabase, peerAt, startBare, startShop, type Subject } from './subjects.ts';

/** The just-in-time compilers need thousands of calls. */
const windows = [
  { from: 1, to: 500 },
  { from: 501, to: 5_000 },
  { from: 5_001, to: 20_000 },
  { from: 20_001, to: 60_000, isSilent: true },
  { from: 60_001, to: 80_000 },
];
const busyBefore = 20_000; // calls sent directly before a part without quiet time
const warming = 5_000; // for a process whose first calls were made one at a time
const fewestPairs = 6; // for a confidence interval
const atRate = { calls: 600, seconds: 10 }; // enough for the scheduler's figures, and for at least this many seconds

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    quiet: { type: 'string', multiple: true, default: ['0', '60'] },
    accounts: { type: 'string', default: '200' },
    by: { type: 'string', default: 'http' },
    load: { type: 'string', default: 'small' },
    first: { type: 'string', default: '0' },
    variant: { type: 'string', multiple: true, default: [] },
    against: { type: 'string' },
    'upstream-port': { type: 'string', default: '0' },
    peer: { type: 'string', multiple: true, default: [] },
    rate: { type: 'string', multiple: true, default: ['20', '200', '1000'] },
    calls: { type: 'string', default: String(windows.at(-1)?.to) },
  },
});
const by = generators.find((name) => name === flags.by);
if (by === undefined) throw new Error(`--by is one of ${generators.join(', ')}`);
const generator: Generator = by;
const accounts = Number(flags.accounts);
const first = Number(flags.first);
const [small] = loads as [Load];
const bodies: Readonly<Record<string, string>> = {
  small: small.body,
  stream: JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: 'Answer briefly.' }] }),
};
const body = bodies[flags.load] ?? '';
if (body === '') throw new Error(`--load is one of ${Object.keys(bodies).join(', ')}`);

type Figures = Map<string, Map<string, number[]>>; // by what was measured, then by subject
const figures: Figures = new Map(); // µs per call, or MB, of each round
const times: Figures = new Map(); // ms until the first piece of each answer, for calls made one at a time

const upstream = await startChild('upstream.ts', [flags['upstream-port']]);
const url = `http://127.0.0.1:${upstream.port}`;
const postgres = await startPostgres();
const subjects: Subject[] = [];
try {
  subjects.push(await startBare('bare, undici', 'bare.ts', url), await startBare('bare, http', 'bare-http.ts', url));
  subjects.push(await startShop(url, await createEmptyDatabase(postgres.url), accounts));
  for (const name of flags.variant) {
    const nodeFlags = name.split(' ');
    subjects.push(await startShop(url, await createEmptyDatabase(postgres.url), accounts, { name, nodeFlags }));
  }
  if (flags.against !== undefined)
    subjects.push(
      await startShop(url, await createEmptyDatabase(postgres.url), accounts, {
        name: 'other',
        checkout: flags.against,
      }),
    );
  for (const peer of flags.peer) subjects.push(peerAt(readRunningPeer(peer)));
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const quiet of flags.quiet.map(Number)) await (first > 0 ? measureFirst(quiet) : measureWindows(quiet));
    for (const rate of flags.rate.map(Number).filter(Boolean))
      for (const subject of subjects) await measureRate(subject, rate);
  }
  report();
} finally {
  for (const subject of subjects) await subject[Symbol.asyncDispose]();
  await stopChild(upstream.process);
  await postgres[Symbol.asyncDispose]();
}
process.exit(0);

/** One subject's calls do not end another's quiet time. */
async function measureWindows(quiet: number): Promise<void> {
  await sleep(quiet * 1000);
  for (const subject of subjects)
    addFigure(`resident, MB, ${describeQuietTime(quiet)}`, subject, subject.usage.residentBytes() / 1e6);
  for (const subject of subjects) {
    // The previous calls went to another subject, so this one has been quiet.
    if (quiet === 0) await callAtOnce(generator, subject, body, busyBefore);
    for (const { from, to, isSilent = false } of windows.filter((window) => window.to <= Number(flags.calls))) {
      const count = to - from + 1;
      const name = `calls ${from} to ${to}, ${describeQuietTime(quiet)}`;
      const cost = await measureCostUs(subject, count, () => callAtOnce(generator, subject, body, count));
      if (!isSilent) addFigure(name, subject, cost);
    }
  }
}

async function measureFirst(quiet: number): Promise<void> {
  await sleep(quiet * 1000);
  for (const subject of subjects) {
    addValues(times, describeQuietTime(quiet), subject.name, ...(await callOneByOne(generator, subject, body, first)));
    await callAtOnce(generator, subject, body, warming);
    addValues(times, 'warm', subject.name, ...(await callOneByOne(generator, subject, body, first)));
  }
}

function describeQuietTime(seconds: number): string {
  return seconds === 0 ? 'no quiet before' : `${seconds} s of quiet before`;
}

async function measureRate(subject: Subject, rate: number): Promise<void> {
  const count = Math.max(atRate.calls, rate * atRate.seconds);
  const cost = await measureCostUs(subject, count, () => callAtRate(generator, subject, body, count, rate));
  addFigure(`${rate} a second`, subject, cost);
}

async function measureCostUs({ usage }: Subject, count: number, work: () => Promise<void>): Promise<number> {
  const before = usage.timeUs();
  await work();
  return (usage.timeUs() - before) / count;
}

function addFigure(what: string, { name }: Subject, figure: number): void {
  addValues(figures, what, name, figure);
}

function addValues(to: Figures, what: string, name: string, ...values: number[]): void {
  const bySubject = to.get(what) ?? new Map<string, number[]>();
  to.set(what, bySubject);
  bySubject.set(name, [...(bySubject.get(name) ?? []), ...values]);
}

function report(): void {
  const how = [`${accounts} accounts`, `calls by ${generator}`, `${flags.rounds} rounds`];
  console.log(`${flags.load}, µs of processor time (× bare of undici, × bare of http); ${how.join(', ')}`);
  for (const [what, bySubject] of figures) {
    const [undici, http] = subjects.map(({ name }) => median(bySubject.get(name) ?? []));
    const columns = [...bySubject].map(([name, values]) => {
      const cost = median(values);
      const ratios = [undici, http].map((bare) => (cost / (bare ?? Number.NaN)).toFixed(2)).join(', ');
      return `${name} ${cost.toFixed(0)}${name.startsWith('bare') ? '' : ` (${ratios})`}`;
    });
    console.log(`  ${what.padEnd(44)} ${columns.join(' · ')}`);
  }
  if (Number(flags.rounds) >= fewestPairs) reportPairs();
  if (times.size > 0) reportTimes();
}

function reportPairs(): void {
  for (const quiet of flags.quiet.map(Number)) {
    const parts = [...figures].filter(([what]) => what.startsWith('calls') && what.endsWith(describeQuietTime(quiet)));
    const warm = parts.at(-1)?.[1];
    for (const [what, bySubject] of parts) {
      const own = bySubject.get('gateway') ?? [];
      for (const [name, values] of bySubject) {
        console.log(`  ${what}, ${name}: × its last calls ${describeRatios(divideByPair(values, warm?.get(name)))}`);
        if (name !== 'gateway')
          console.log(`  ${what}: gateway × ${name} ${describeRatios(divideByPair(own, values))}`);
      }
    }
  }
}

function reportTimes(): void {
  const warm = times.get('warm');
  for (const [what, bySubject] of times)
    for (const [name, values] of bySubject) {
      const [p50, p99] = [0.5, 0.99].map((share) => quantile(values, share).toFixed(2));
      const ratios = divideByPair(mediansByRound(values), mediansByRound(warm?.get(name) ?? []));
      const ratio = what === 'warm' ? '' : `; p50 × warm ${describeRatios(ratios)}`;
      console.log(`  ${what}, ${name}: ms, p50 ${p50}, p99 ${p99} of ${values.length}${ratio}`);
    }
}

function mediansByRound(values: readonly number[]): number[] {
  return Array.from({ length: values.length / first }, (_, round) =>
    median(values.slice(round * first, (round + 1) * first)),
  );
}

function divideByPair(values: readonly number[], others: readonly number[] = []): number[] {
  return values.map((value, index) => value / (others[index] ?? Number.NaN));
}
