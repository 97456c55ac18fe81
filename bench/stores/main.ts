/**
 * `npm run bench:stores`: what a request and a running instance cost in Redis and PostgreSQL, according to their own statistics: INFO
 * commandstats, pg_stat_wal, pg_stat_database, sizes of relations. These do not depend on the machine's load, except for CPU times and for
 * how many records share a statement. docs/scaling.md has the figures.
 *
 *     npm run bench:stores -- --requests 4000
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { EmbeddedPostgres } from '#core/platform/database/embedded.ts';
import { startRedis } from '../../test/support/global-redis.ts';
import { askFigures, startChild, stopChild } from '../child.ts';
import { type Load, loads, sendLoad } from '../load.ts';
import { readDatabaseCpuMs } from '../pages/cpu-time.ts';

const { values: flags } = parseArgs({ options: { requests: { type: 'string', default: '4000' } } });
const requests = Number(flags.requests);
const idleMs = 40_000; // includes heartbeats of all kinds
const foldTimeoutMs = 60_000; // until the roll-up has added the last records

type Counts = ReadonlyMap<string, number>;

const folder = await mkdtemp(join(tmpdir(), 'daypass-bench-stores-'));
// PostgreSQL may run as a different user, which must be able to enter the folder.
await chmod(folder, 0o755);
const quiet = { info: () => undefined, warn: console.warn, error: console.error };
const postgres = await EmbeddedPostgres.open(folder, quiet);
const redisServer = await startRedis();
if (redisServer === undefined) throw new Error('this needs redis-server in the PATH');
const redis = new Redis(redisServer.url);
const database = new pg.Client({ connectionString: postgres.url });
await database.connect();
const upstream = await startChild('upstream.ts', []);
const gateway = await startChild('gateway.ts', [`http://127.0.0.1:${upstream.port}`, postgres.url, redisServer.url]);
try {
  const [small, , stream] = loads as [Load, Load, Load];
  await sendLoad(gateway.port, gateway.key, small, 500);
  await waitUntilFolded();
  await settle();
  const idle = dividePerUnit(await measureGrowth(() => sleep(idleMs)), idleMs / 1000);
  report('an instance without requests, per second', idle);
  const keys = [gateway.key, ...(gateway.visitors ?? []).map(({ key }) => key)];
  const send = (load: Load, count: number) =>
    Promise.all(
      keys.map((key) => sendLoad(gateway.port, key, { ...load, concurrency: 1 }, Math.ceil(count / keys.length))),
    );
  for (const [load, count] of [
    [small, requests],
    [{ ...stream, concurrency: 1 }, keys.length * 4],
  ] as const) {
    const sizes = await readTableBytes();
    const began = performance.now();
    const grown = await measureGrowth(async () => {
      await send(load, count);
      await waitUntilFolded();
      await settle();
    });
    const seconds = (performance.now() - began) / 1000;
    const sent = Math.ceil(count / keys.length) * keys.length;
    const own = new Map([...grown].map(([name, value]) => [name, value - (idle.get(name) ?? 0) * seconds]));
    const bytes = [...(await readTableBytes())].map(
      ([name, size]) => [`bytes on disk: ${name}`, size - (sizes.get(name) ?? 0)] as const,
    );
    report(
      `${load.name}, per request (n = ${sent}, by ${keys.length} accounts)`,
      dividePerUnit(new Map([...own, ...bytes]), sent),
    );
  }
  await reportOpenStreams(keys, stream);
  await reportRollUp();
} finally {
  for (const child of [gateway, upstream]) await stopChild(child.process);
  await database.end();
  redis.disconnect();
  await postgres.stop();
  await redisServer.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

/** Each delta is of a different account or model, as at a high rate. */
async function reportRollUp(): Promise<void> {
  await waitUntilFolded();
  const before = await readDatabaseCpuUs();
  const deltas = 100_000;
  await database.query(`
    INSERT INTO usage_delta (hour, account_id, model, route, first_content_bucket, answered, refused, failed, aborted, interrupted,
      failovers, cached, input_tokens, output_tokens)
    SELECT date_trunc('hour', now()), md5((n % 20000)::text)::uuid, 'model-' || n % 5, 'upstream/model-' || n % 5, n % 100,
      1, 0, 0, 0, 0, 0, 0, 100, 100 FROM generate_series(1, ${deltas}) AS n`);
  const inserted = await readDatabaseCpuUs();
  await waitUntilFolded();
  const cost = ((await readDatabaseCpuUs()) - inserted) / deltas;
  console.log(`\nroll-up of ${deltas} deltas of 20,000 accounts:`);
  console.log(`  ${((inserted - before) / deltas).toFixed(2).padStart(10)}  µs of the database's CPU to insert one`);
  console.log(`  ${cost.toFixed(2).padStart(10)}  µs of the database's CPU to fold one`);
}

async function readDatabaseCpuUs(): Promise<number> {
  return ((await readDatabaseCpuMs({ query: readRows })) ?? Number.NaN) * 1000;
}

async function readRows<Row>(sql: string): Promise<Row[]> {
  return (await database.query(sql)).rows as Row[];
}

/** The slots of open streams are renewed and their events pass through. */
async function reportOpenStreams(keys: readonly string[], stream: Load): Promise<void> {
  const open = 500;
  const memory = async () => (await askFigures(gateway)).memory;
  const before = await memory();
  let most = before;
  const load = { ...stream, concurrency: Math.ceil(open / keys.length) };
  const cpu = (await askFigures(gateway)).cpu;
  const watching = setInterval(() => void memory().then((now) => (most = Math.max(most, now))), 200);
  await Promise.all(keys.map((key) => sendLoad(gateway.port, key, load, load.concurrency)));
  clearInterval(watching);
  const used = (await askFigures(gateway)).cpu - cpu;
  console.log(`\n${load.concurrency * keys.length} open streams of ${stream.unitsPerRequest} events:`);
  console.log(`  ${((most - before) / 1024 / open).toFixed(1).padStart(10)}  KB of resident memory each`);
  console.log(
    `  ${(used / (load.concurrency * keys.length * stream.unitsPerRequest)).toFixed(1).padStart(10)}  µs of CPU an event`,
  );
}

function report(title: string, counts: Counts): void {
  console.log(`\n${title}:`);
  for (const [name, value] of [...counts].filter(([, amount]) => Math.abs(amount) >= 0.005))
    console.log(`  ${value.toFixed(value >= 100 ? 0 : 2).padStart(10)}  ${name}`);
}

async function measureGrowth(work: () => Promise<unknown>): Promise<Map<string, number>> {
  const before = await readCounts();
  await work();
  const after = await readCounts();
  return new Map([...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)]));
}

function dividePerUnit(counts: Counts, units: number): Map<string, number> {
  return new Map([...counts].map(([name, value]) => [name, value / units]));
}

async function readCounts(): Promise<Counts> {
  const cpu = ['PostgreSQL µs of CPU', await readDatabaseCpuUs()] as const;
  return new Map([...(await readRedis()), ...(await readDatabase()), cpu]);
}

/** Includes commands that scripts call. */
async function readRedis(): Promise<(readonly [string, number])[]> {
  const commands = [...(await redis.info('commandstats')).matchAll(/cmdstat_(\S+?):calls=(\d+),usec=(\d+)/g)]
    .map(([, name = '', calls, usec]) => ({ name, calls: Number(calls), usec: Number(usec) }))
    .filter(({ name }) => name !== 'info');
  const stats = await redis.info('stats');
  const stat = (name: string) => Number(new RegExp(`${name}:(\\d+)`).exec(stats)?.[1]);
  return [
    ...commands.map(({ name, calls }) => [`Redis ${name}`, calls] as const),
    [
      'Redis µs in commands',
      commands.filter(({ name }) => !isCalledByScripts(name)).reduce((sum, { usec }) => sum + usec, 0),
    ],
    ['Redis bytes in', stat('total_net_input_bytes')],
    ['Redis bytes out', stat('total_net_output_bytes')],
  ];
}

/** The time of these commands is part of the time of the scripts that call them. */
function isCalledByScripts(name: string): boolean {
  return ['time', 'zremrangebyscore', 'zcard', 'zadd', 'pexpire', 'get', 'set'].includes(name);
}

async function readDatabase(): Promise<(readonly [string, number])[]> {
  await database.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await database.query<Record<string, string>>(`
    SELECT (SELECT wal_bytes FROM pg_stat_wal)::text AS "WAL bytes", (SELECT wal_records FROM pg_stat_wal)::text AS "WAL records",
      (SELECT wal_fpi FROM pg_stat_wal)::text AS "full page images", xact_commit::text AS transactions,
      tup_inserted::text AS "rows inserted", tup_updated::text AS "rows updated", tup_deleted::text AS "rows deleted"
    FROM pg_stat_database WHERE datname = current_database()`);
  return Object.entries(rows[0] ?? {}).map(([name, value]) => [`PostgreSQL ${name}`, Number(value)] as const);
}

async function readTableBytes(): Promise<Counts> {
  // includes indexes; partitions count as their table
  const { rows } = await database.query<{ name: string; size: string }>(`
    SELECT regexp_replace(relname, '_[0-9]{8}$', '') AS name, sum(pg_total_relation_size(oid))::text AS size
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace GROUP BY 1`);
  return new Map(rows.map(({ name, size }) => [name, Number(size)]));
}

async function waitUntilFolded(): Promise<void> {
  const until = performance.now() + foldTimeoutMs;
  // The last records are shipped within a second or two.
  await sleep(3_000);
  for (;;) {
    const { rows } = await database.query<{ left: string }>('SELECT count(*)::text AS left FROM usage_delta');
    if (rows[0]?.left === '0') return;
    if (performance.now() > until) throw new Error('the roll-up has not run for a minute');
    await sleep(500);
  }
}

/** Forces a checkpoint, so that the full page images of the next one fall at the same point of each measurement. */
async function settle(): Promise<void> {
  await database.query('CHECKPOINT');
}
