/**
 * `npm run bench -- --dashboards`: what open home pages cost the gateway's requests. Each of 50 accounts sends requests; rounds in which
 * each has a page open alternate with rounds in which none has.
 */
import { request } from 'undici';
import { type Load, sendLoad } from './load.ts';
import type { Figures } from './process-figures.ts';
import { median } from './statistics.ts';

const pages = 50; // one per account, in every other round
const maxRatio = 1.05; // by which open pages may increase the CPU time of a request

export interface DashboardSubject {
  readonly port: number;
  readonly visitors: readonly { readonly key: string; readonly cookie: string }[];
  figures(): Promise<Figures>;
}

interface Round {
  readonly cpu: number; // µs per request
  readonly throughput: number; // requests per second
  readonly updates: number; // pages' updates per second
}

export async function measureDashboards(subject: DashboardSubject, load: Load, rounds: number): Promise<void> {
  // Lets V8 compile rendering too before anything is measured.
  for (const count of [pages, 0, pages]) await measureRound(subject, load, count);
  const pairs: { none: Round; open: Round }[] = [];
  for (let round = 0; round < rounds; round++) {
    const openFirst = round % 2 === 0;
    const first = await measureRound(subject, load, openFirst ? pages : 0);
    const second = await measureRound(subject, load, openFirst ? 0 : pages);
    const pair = openFirst ? { open: first, none: second } : { none: first, open: second };
    pairs.push(pair);
    console.log(`  round ${round + 1}: ${describeRound(pair.none)} without, ${describeRound(pair.open)} with pages`);
  }
  console.log(`open home pages: ${rounds} rounds of ${load.requests} requests by ${pages} accounts`);
  for (const name of ['none', 'open'] as const) {
    const [cpu, throughput, updates] = (['cpu', 'throughput', 'updates'] as const).map((figure) =>
      median(pairs.map((pair) => pair[name][figure])),
    ) as [number, number, number];
    console.log(
      `  ${(name === 'none' ? 'none' : `${pages} open`).padEnd(8)} ${cpu.toFixed(1).padStart(8)} µs CPU per request ${throughput.toFixed(0).padStart(7)} requests/s ${updates.toFixed(0).padStart(5)} updates/s`,
    );
  }
  const ratios = pairs.map((pair) => pair.open.cpu / pair.none.cpu);
  const spread = ratios.map((ratio) => ratio.toFixed(3)).join(' ');
  console.log(`  ratio    ${median(ratios).toFixed(3).padStart(8)} × (aim: at most ${maxRatio}; rounds: ${spread})`);
}

const describeRound = ({ cpu, throughput, updates }: Round) =>
  `${cpu.toFixed(1)} µs, ${throughput.toFixed(0)} requests/s, ${updates.toFixed(1)} updates/s`;

async function measureRound(subject: DashboardSubject, load: Load, count: number): Promise<Round> {
  const streams = await Promise.all(subject.visitors.slice(0, count).map((visitor) => openPage(subject.port, visitor)));
  const before = await subject.figures();
  const began = performance.now();
  await sendAll(subject, load);
  const seconds = (performance.now() - began) / 1000;
  const after = await subject.figures();
  const updates = streams.reduce((sum, stream) => sum + stream.updates(), 0);
  for (const stream of streams) stream.close();
  return {
    cpu: (after.cpu - before.cpu) / load.requests,
    throughput: load.requests / seconds,
    updates: updates / seconds,
  };
}

async function sendAll({ port, visitors }: DashboardSubject, load: Load): Promise<void> {
  const each = Math.ceil(load.requests / visitors.length);
  await Promise.all(visitors.map(({ key }) => sendLoad(port, key, { ...load, concurrency: 1 }, each)));
}

async function openPage(port: number, { cookie }: { readonly cookie: string }) {
  const closing = new AbortController();
  const { statusCode, body } = await request(`http://127.0.0.1:${port}/dashboard/live`, {
    headers: { cookie, accept: 'text/event-stream' },
    signal: closing.signal,
    bodyTimeout: 0,
  });
  if (statusCode !== 200) throw new Error(`the stream of a page has the status ${statusCode}`);
  let events = 0;
  let first = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  body.on('data', (chunk: Buffer) => {
    const text = chunk.toString();
    events += text.split('\nevent: ').length - 1 + (text.startsWith('event: ') ? 1 : 0);
    if (text.includes('event: latest')) resolve();
  });
  body.on('error', () => undefined);
  await promise;
  first = events;
  return { updates: () => events - first, close: () => closing.abort() };
}
