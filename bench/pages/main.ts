/**
 * `npm run bench:pages`: time and size of the pages with 10 million requests over 30 days. An empty database is seeded; later runs reuse
 * it.
 *
 *     npm run bench:pages -- [--rows 10000000] [--data data/bench-pages] [--rounds 20] [--only operator/requests]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Agent, request } from 'undici';
import { Sessions } from '#core/web/sessions/sessions.ts';
import type { Figures, Ready } from '../process-figures.ts';
import { quantile } from '../statistics.ts';
import { readDatabaseCpuMs } from './cpu-time.ts';
import { openSeeded } from './open.ts';
import { findPages, findVisitors, type VisitedPage, type Visitor } from './visited.ts';

const aims = { time: 50, size: 50 }; // the server's time (p95, ms) and the compressed HTML of a page (kB)
const startTimeoutMs = 60_000;
const figuresTimeoutMs = 10_000;

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    data: { type: 'string', default: join('data', 'bench-pages') },
    rounds: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
  },
});
await using database = await openSeeded(options.data, Number(options.rows));
const visitors = await findVisitors(database);
const pages = (await findPages(database, visitors, Date.now())).filter(({ path }) => path.includes(options.only));
const cookies = new Map<Visitor, string>();
for (const [name, id] of Object.entries(visitors)) {
  const { token } = await new Sessions(database).create(id, 'bench');
  cookies.set(name as Visitor, `dp_session=${token}`);
}
const { gateway, port } = await startGateway(database.url);
const agent = new Agent({ connections: 1 });
try {
  await measure(Number(options.rounds));
} finally {
  await agent.close();
  gateway.kill('SIGTERM');
  await once(gateway, 'exit');
}

async function startGateway(url: string): Promise<{ gateway: ChildProcess; port: number }> {
  const child = fork(join(import.meta.dirname, 'gateway.ts'), [url]);
  const [ready] = (await once(child, 'message', { signal: AbortSignal.timeout(startTimeoutMs) })) as [Ready];
  return { gateway: child, port: ready.port };
}

interface Visit {
  readonly status: number;
  readonly time: number; // ms
  readonly cpu: number | undefined; // of gateway and database, ms; undefined if it cannot be measured
  readonly html: Buffer;
}

/** Each round visits all pages, so that the machine's other load affects them all. */
async function measure(rounds: number): Promise<void> {
  const load = formatLoadAverage();
  const visits = new Map<VisitedPage, Visit[]>(pages.map((page) => [page, []]));
  for (let round = 0; round <= rounds; round++)
    for (const page of pages) {
      const done = await visit(page);
      visits.get(page)?.push(done);
    }
  const heads = ['first', 'p50', 'p95 ms', 'CPU p50', 'p95 ms'].map((head) => head.padStart(7)).join(' ');
  console.log(`${'page'.padEnd(96)} ${heads} ${'kB'.padStart(6)} compressed`);
  for (const [page, done] of visits) console.log(describe(page, done));
  console.log(
    `n = ${rounds} a page; aims: p95 under ${aims.time} ms, HTML under ${aims.size} kB compressed. First: the view of a new gateway, not in the others. CPU: gateway and database.`,
  );
  console.log(`load of the machine: ${load} before, ${formatLoadAverage()} after`);
}

function formatLoadAverage(): string {
  return (loadavg()[0] ?? Number.NaN).toFixed(1);
}

async function visit({ path, visitor }: VisitedPage): Promise<Visit> {
  const cookie = cookies.get(visitor);
  const cpuBefore = await readCpuMs();
  const began = performance.now();
  const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, {
    dispatcher: agent,
    headers: { accept: 'text/html', ...(cookie !== undefined && { cookie }) },
  });
  const html = Buffer.from(await body.arrayBuffer());
  const time = performance.now() - began;
  const cpuAfter = await readCpuMs();
  const used = cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore;
  return { status: statusCode, time, cpu: used, html };
}

async function readCpuMs(): Promise<number | undefined> {
  const answered = once(gateway, 'message', { signal: AbortSignal.timeout(figuresTimeoutMs) });
  gateway.send('figures');
  const [figures] = (await answered) as [Figures];
  const ofDatabase = await readDatabaseCpuMs(database);
  return ofDatabase === undefined ? undefined : ofDatabase + figures.cpu / 1000;
}

function describe({ path, visitor }: VisitedPage, visits: readonly Visit[]): string {
  const name = `${visitor.padEnd(8)} ${path}`.padEnd(96);
  const last = visits.at(-1);
  if (last?.status !== 200) return `${name} status ${last?.status}`;
  const [first, ...others] = visits;
  const times = others.map(({ time }) => time);
  const cpus = others.flatMap(({ cpu: used }) => used ?? []);
  const size = gzipSync(last.html).length / 1000;
  const isOver = quantile(times, 0.95) > aims.time || size > aims.size;
  const figures = [
    first?.time ?? Number.NaN, // fills the caches
    ...[0.5, 0.95].map((share) => quantile(times, share)),
    ...[0.5, 0.95].map((share) => quantile(cpus, share)),
  ]
    .map((time) => time.toFixed(1).padStart(7))
    .join(' ');
  return `${name} ${figures} ${(last.html.length / 1000).toFixed(1).padStart(6)} ${size.toFixed(1).padStart(6)}${isOver ? '  over' : ''}`;
}
