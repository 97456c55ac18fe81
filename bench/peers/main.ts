/**
 * `npm run bench:peers`: compares this gateway with others that can be installed from a package registry, with nginx and with the bare
 * forwarder, alternating in one run: CPU time, added latency, peak memory. Linux only.
 *
 *     npm run bench:peers -- --folder FOLDER     where they are installed; later runs reuse it
 *     npm run bench:peers -- --rounds 3          of each load; default: 5
 *     npm run bench:peers -- nginx LiteLLM       only these
 *     npm run bench:peers -- --upstream-port 9999 --peer NAME=http://127.0.0.1:PORT=PID
 *                                                one that is already running, with a model `bench` at the upstream on that port
 */
import type { ChildProcess } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../../test/support/free-port.ts';
import { startChild, stopChild } from '../child.ts';
import { type Load, loads, sendLoad } from '../load.ts';
import { readRunningPeer, type RunningPeer } from '../running-peer.ts';
import { median, quantile } from '../statistics.ts';
import { type ClientFormat, type Peer, peers } from './peers.ts';
import { ProcessTree } from './process-tree.ts';

const { values: flags, positionals: only } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: join(homedir(), '.cache/daypass-peers') },
    rounds: { type: 'string', default: '5' },
    peer: { type: 'string', multiple: true, default: [] },
    'upstream-port': { type: 'string', default: '0' },
  },
});
const rounds = Number(flags.rounds);
const roundMs = 1_500; // of one gateway, roughly
const startTimeoutMs = 180_000;
const latencyRequests = 200; // one at a time

interface Subject {
  readonly name: string;
  readonly version: string;
  readonly formats: readonly ClientFormat[];
  readonly port: number;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly processes: ProcessTree;
  readonly child?: ChildProcess;
}

interface Figures {
  readonly cpu: number; // µs
  readonly rate: number; // requests per second
}

const [small, large, stream] = loads as [Load, Load, Load];
const streams = { ...stream, concurrency: 32, requests: 32 };
const onMessages = (load: Load, name: string): Load => ({
  ...load,
  name,
  path: '/v1/messages',
  body: JSON.stringify({ ...(JSON.parse(load.body) as object), max_tokens: 1_000 }),
});
const measured: readonly { readonly load: Load; readonly format: ClientFormat }[] = [
  { load: small, format: 'chat' },
  { load: large, format: 'chat' },
  { load: streams, format: 'chat' },
  { load: onMessages(small, 'small call, Messages on Chat'), format: 'messages' },
  { load: onMessages(streams, 'event, Messages on Chat'), format: 'messages' },
];

const upstream = await startOwn('upstream', 'upstream.ts', [flags['upstream-port']]);
const url = `http://127.0.0.1:${upstream.port}`;
const direct: Subject = { ...upstream, name: 'upstream' };
const subjects: Subject[] = [
  await startOwn('bare Node', 'bare.ts', [url]),
  { ...(await startOwn('Daypass', 'gateway.ts', [url])), formats: ['chat', 'messages'] },
  ...flags.peer.map(readRunningPeer).map(asSubject),
];
try {
  for (const peer of peers.filter(({ name }) => only.length === 0 || only.includes(name))) {
    const subject = await startPeer(peer).catch((error: unknown) =>
      console.log(`${peer.name}: skipped: ${firstLine(error)}`),
    );
    if (subject !== undefined) subjects.push(subject);
  }
  for (const { name, version } of subjects) console.log(`${name} ${version}`);
  for (const { load, format } of measured)
    await compare(
      load,
      subjects.filter(({ formats }) => formats.includes(format)),
    );
  for (const load of [small, large]) await compareLatency(load);
} finally {
  for (const { child } of [...subjects, direct]) if (child !== undefined) await stopChild(child);
}
process.exit(0);

async function compare(load: Load, among: readonly Subject[]): Promise<void> {
  const results = new Map<Subject, Figures[]>();
  const counts = new Map<Subject, number>();
  for (const subject of among) {
    try {
      await send(subject, load, load.concurrency);
      const { rate } = await measure(subject, load, 2 * load.concurrency);
      const fitting = Math.round((rate * roundMs) / 1000);
      counts.set(subject, Math.min(load.requests, Math.max(2 * load.concurrency, fitting)));
      results.set(subject, []);
      // Enough for the just-in-time compilers.
      await send(subject, load, counts.get(subject) as number);
    } catch (error) {
      console.log(`${subject.name}: ${load.name}: ${firstLine(error)}`);
      results.delete(subject);
    }
  }
  for (const subject of results.keys()) subject.processes.resetPeak();
  for (let round = 0; round < rounds; round++)
    for (const [subject, figures] of results) {
      try {
        figures.push(await measure(subject, load, counts.get(subject) as number));
      } catch (error) {
        console.log(`${subject.name}: ${load.name}: ${firstLine(error)}`);
        results.delete(subject);
      }
    }
  console.log(`\n${load.name}, ${load.concurrency} at once, medians of ${rounds} rounds, own process:`);
  const bare = median(results.get(subjects[0] as Subject)?.map(({ cpu }) => cpu) ?? []);
  for (const [subject, figures] of results) {
    const cpu = median(figures.map((one) => one.cpu));
    const ratio = Number.isNaN(bare) ? '' : `${(cpu / bare).toFixed(2)} × bare`;
    const rate = median(figures.map((one) => one.rate)).toFixed(0);
    const peak = (subject.processes.peakBytes / 1_048_576).toFixed(0);
    const columns = [`${cpu.toFixed(1)} µs`, ratio, `${rate} requests/s`, `peak ${peak} MB`];
    console.log(`  ${subject.name.padEnd(20)}${columns.map((text) => text.padStart(16)).join('')}`);
  }
}

async function measure(subject: Subject, load: Load, requests: number): Promise<Figures> {
  const before = subject.processes.cpuUs;
  const began = performance.now();
  await send(subject, load, requests);
  const seconds = (performance.now() - began) / 1000;
  return { cpu: (subject.processes.cpuUs - before) / (requests * load.unitsPerRequest), rate: requests / seconds };
}

/** The requests of all gateways are interleaved. */
async function compareLatency(load: Load): Promise<void> {
  const alone = { ...load, concurrency: 1 };
  const times = new Map(
    [direct, ...subjects].filter(({ formats }) => formats.includes('chat')).map((one) => [one, [] as number[]]),
  );
  for (let request = 0; request < latencyRequests; request++)
    for (const [subject, of] of times) {
      const began = performance.now();
      await send(subject, alone, 1);
      of.push(performance.now() - began);
    }
  console.log(`\n${load.name}, one at a time, ${latencyRequests} interleaved requests, added to the upstream's own:`);
  const own = times.get(direct) ?? [];
  for (const [subject, of] of times) {
    if (subject === direct) continue;
    const added = [0.5, 0.99].map(
      (share) => `p${share * 100} ${(quantile(of, share) - quantile(own, share)).toFixed(2)} ms`,
    );
    console.log(`  ${subject.name.padEnd(20)}${added.map((text) => text.padStart(16)).join('')}`);
  }
}

function send({ port, key, headers }: Subject, load: Load, requests: number): Promise<void> {
  return sendLoad(port, key, load, requests, headers);
}

function asSubject({ name, port, processId }: RunningPeer): Subject {
  return {
    name,
    version: 'as it runs',
    formats: ['chat'],
    port,
    key: 'none',
    headers: {},
    processes: new ProcessTree(processId),
  };
}

async function startOwn(name: string, file: string, parameters: string[]): Promise<Subject> {
  const { port, key, process: child } = await startChild(file, parameters);
  const processes = new ProcessTree(child.pid as number, true);
  return { name, version: process.version, formats: ['chat'], port, key, headers: {}, processes, child };
}

/** @throws Error with the reason if it cannot be installed or does not respond */
async function startPeer(peer: Peer): Promise<Subject> {
  const folder = join(flags.folder, peer.name);
  await mkdir(folder, { recursive: true });
  console.log(`installing ${peer.name} in ${folder}`);
  const version = await peer.install(folder);
  const port = await freePort();
  const child = await peer.start(folder, port, url);
  const processes = new ProcessTree(child.pid as number);
  const headers = peer.headers?.(url) ?? {};
  const subject = { name: peer.name, version, formats: peer.formats, port, key: 'none', headers, processes, child };
  const load = measured.find(({ format }) => peer.formats.includes(format))?.load as Load;
  const until = performance.now() + startTimeoutMs;
  for (;;) {
    try {
      await send(subject, { ...load, concurrency: 1 }, 1);
      return subject;
    } catch (error) {
      if (performance.now() < until && child.exitCode === null) await sleep(500);
      else {
        await stopChild(child);
        throw new Error(`it does not answer; its output is in ${join(folder, 'output.log')}`, { cause: error });
      }
    }
  }
}

function firstLine(error: unknown): string {
  const { message, cause } = error as Error;
  const stderr =
    error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n').at(-1) : undefined;
  return `${stderr ?? message.split('\n')[0]}${cause instanceof Error ? ` (${cause.message.split('\n')[0]})` : ''}`;
}
