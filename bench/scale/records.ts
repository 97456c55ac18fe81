import { randomBytes, randomInt } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { foldUsage } from '#core/gateway/records/fold-usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { EmbeddedPostgres } from '#core/platform/database/embedded.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { coreEntities } from '#core/process/entities.ts';
import { PostgresRecordStore } from '../../plugins/log/record-store.ts';
import { models } from '../pages/catalog.ts';
import { readDatabaseCpuMs } from '../pages/cpu-time.ts';
import { fillPartition } from '../pages/fill-day.ts';
import { ProcessTree } from '../peers/process-tree.ts';
import { quantile } from '../statistics.ts';
import { MemoryGroup } from './memory-group.ts';
import { readPostmasterPid } from './postmaster.ts';

interface RecordsRun {
  readonly folder: string; // where the database is kept; it is filled once a day
  readonly rows: number; // in today's partition before the run
  readonly rate: number; // records per second
  readonly minutes: number;
  readonly megabytes: number | undefined; // for PostgreSQL including its page cache; undefined for no limit
}

const accountCount = 2_000;
const instances = 16; // each inserts its records once a second in one statement, as a gateway does
const foldIntervalMs = 20_000; // as for the `usage-rollup` job
const stopTimeoutMs = 60_000; // a checkpoint of a large partition takes a while
const day = 86_400_000; // ms
const MiB = 1024 * 1024;
const log = { info: () => undefined, warn: console.warn, error: console.error };

export async function measureRecords({ folder, rows, rate, minutes, megabytes: limit }: RecordsRun): Promise<void> {
  const dataFolder = resolve(folder);
  await mkdir(dataFolder, { recursive: true });
  // PostgreSQL may run as a different user, which must be able to enter the folder.
  await chmod(dataFolder, 0o755);
  await withDatabase(dataFolder, (database) => fillToday(database, rows));
  if (limit === undefined) return withDatabase(dataFolder, (database) => insertSteadily(database, rate, minutes));
  await using group = new MemoryGroup('daypass-bench-records', limit * MiB);
  // Pages that filling has cached belong to no group, so they would be read without counting towards the limit.
  await writeFile('/proc/sys/vm/drop_caches', '1');
  await withDatabase(dataFolder, (database, postmaster) => {
    for (const pid of new ProcessTree(postmaster).pids) group.add(pid);
    return insertSteadily(database, rate, minutes);
  });
}

async function withDatabase(
  dataFolder: string,
  run: (database: Database, postmaster: number) => Promise<void>,
): Promise<void> {
  const postgres = await EmbeddedPostgres.open(dataFolder, log);
  const options = {
    url: postgres.url,
    dataFolder,
    log,
    mode: 'command',
    isShared: true,
    entities: coreEntities,
  } as const;
  try {
    await using database = await openDatabase(options);
    await run(database, await readPostmasterPid(dataFolder));
  } finally {
    await postgres.stop(stopTimeoutMs);
  }
}

async function fillToday(database: Database, rows: number): Promise<void> {
  const [row] = await database.query<{ is_empty: boolean }>('SELECT NOT EXISTS (SELECT FROM request_log) AS is_empty');
  if (row?.is_empty !== true) return;
  const accounts: string[] = [];
  for (let index = 1; index <= accountCount; index++) {
    const account = { name: `Account ${index}`, period: { days: 30, reason: 'grant' } } as const;
    accounts.push((await createAccount(database, 'dp', account)).accountId);
  }
  const end = Date.now();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(`SET maintenance_work_mem = '1GB'; SET synchronous_commit = off; SELECT setseed(0.42)`);
    await client.query('BEGIN');
    await fillPartition(client, { accounts, start: end - (end % day), end, rows });
    await client.query('COMMIT');
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
  console.log(`${rows} records are in today's partition`);
}

async function insertSteadily(database: Database, rate: number, minutes: number): Promise<void> {
  const accounts = (await database.query<{ id: string }>('SELECT id FROM account ORDER BY id')).map(({ id }) => id);
  await reportSizes(database);
  const store = new PostgresRecordStore(database);
  const before = await readStatistics(database);
  const began = performance.now();
  const seconds = Math.round(minutes * 60);
  const perStatement = Math.round(rate / instances);
  const statements: { readonly minute: number; readonly duration: number; readonly lateness: number }[] = [];
  const folds: number[] = [];
  const folding = setInterval(() => {
    const start = performance.now();
    void foldUsage(database).then(() => folds.push(performance.now() - start));
  }, foldIntervalMs);
  await Promise.all(
    Array.from({ length: instances }, async (_, instance) => {
      for (let second = 0; second < seconds; second++) {
        const due = began + (second + instance / instances) * 1000;
        const wait = due - performance.now();
        if (wait > 0) await sleep(wait);
        const lines = Array.from({ length: perStatement }, () => createRecordLine(accounts));
        const sentAt = performance.now();
        await store.insert(`bench-${instance}`, lines);
        const duration = performance.now() - sentAt;
        statements.push({ minute: Math.floor(second / 60), duration, lateness: Math.max(0, sentAt - due) });
      }
    }),
  );
  const elapsed = (performance.now() - began) / 1000;
  clearInterval(folding);
  const after = await readStatistics(database);
  const records = statements.length * perStatement;
  const durations = statements.map(({ duration }) => duration);
  console.log(`${records} records in ${elapsed.toFixed(0)} s: ${(records / elapsed).toFixed(0)} a second`);
  console.log(`  ${perStatement} records a statement, ms: ${describeTimes(durations)}`);
  console.log(`  statements sent late, ms: ${describeTimes(statements.map(({ lateness }) => lateness))}`);
  for (let minute = 0; minute < minutes; minute++)
    console.log(
      `  minute ${minute + 1}, ms: ${describeTimes(statements.filter((sent) => sent.minute === minute).map(({ duration }) => duration))}`,
    );
  console.log(`  a roll-up, ms: ${describeTimes(folds)}, ${folds.length} of them`);
  const grown = (name: keyof Statistics) => after[name] - before[name];
  console.log(`  ${(grown('cpu') / 1000 / elapsed).toFixed(2)} of ${cpus().length} cores for the connections`);
  console.log(
    `  ${(grown('walBytes') / MiB / elapsed).toFixed(2)} MB of WAL a second, ${(grown('fullPages') / elapsed).toFixed(0)} whole pages`,
  );
  console.log(`  ${grown('checkpoints')} checkpoints, ${(grown('writeTime') / 1000).toFixed(0)} s of writing`);
  console.log(
    `  ${(grown('blocksRead') / elapsed).toFixed(0)} blocks read a second, ${((100 * grown('blocksHit')) / (grown('blocksRead') + grown('blocksHit'))).toFixed(2)} % from shared buffers`,
  );
  console.log(`  records lost: ${records - grown('stored')}`);
  await reportSizes(database);
}

interface Statistics {
  readonly cpu: number; // ms
  readonly walBytes: number;
  readonly fullPages: number;
  readonly checkpoints: number;
  readonly writeTime: number; // ms
  readonly blocksRead: number;
  readonly blocksHit: number;
  readonly stored: number;
}

async function readStatistics(database: Database): Promise<Statistics> {
  const [row] = await database.query<Omit<Statistics, 'cpu'>>(`
    SELECT wal_bytes::float8 AS "walBytes", wal_fpi::float8 AS "fullPages",
      (num_timed + num_requested)::float8 AS checkpoints, write_time AS "writeTime",
      (SELECT sum(blks_read)::float8 FROM pg_stat_database) AS "blocksRead",
      (SELECT sum(blks_hit)::float8 FROM pg_stat_database) AS "blocksHit",
      (SELECT sum(request_count)::float8 FROM account) AS stored
    FROM pg_stat_wal, pg_stat_checkpointer`);
  if (row === undefined) throw new Error('PostgreSQL has no statistics');
  return { ...row, cpu: (await readDatabaseCpuMs(database)) ?? Number.NaN };
}

function megabytes(bytes = 0): string {
  return (bytes / MiB).toFixed(0);
}

async function reportSizes(database: Database): Promise<void> {
  const [row] = await database.query<{ table: number; indexes: number; deltas: number }>(`
    SELECT sum(pg_table_size(relid))::float8 AS table, sum(pg_indexes_size(relid))::float8 AS indexes,
      (SELECT count(*)::float8 FROM usage_delta) AS deltas
    FROM pg_partition_tree('request_log') WHERE isleaf`);
  console.log(
    `  records: ${megabytes(row?.table)} MB and ${megabytes(row?.indexes)} MB of indexes; ${row?.deltas} deltas wait`,
  );
}

function describeTimes(values: readonly number[]): string {
  const [median, slow, slowest] = [0.5, 0.99, 1].map((share) => quantile(values, share).toFixed(0));
  return `p50 ${median}, p99 ${slow}, at most ${slowest}`;
}

const routes = Object.entries(models).map(([name, [route]]) => ({ name, route }));

function pick<T>(values: readonly T[]): T {
  return values[randomInt(values.length)] as T;
}

function createRecordLine(accounts: readonly string[]): string {
  const receivedAt = Date.now();
  const digits = randomBytes(10).toString('hex');
  const { name, route } = pick(routes);
  const duration = 400 + randomInt(20_000);
  return JSON.stringify({
    id: `req_${receivedAt.toString(16).padStart(12, '0')}7${digits.slice(0, 3)}8${digits.slice(3, 18)}`,
    started_at: receivedAt,
    account_id: pick(accounts),
    key_hint: 'dp-AbCd…wxyz',
    method: 'POST',
    path: '/v1/chat/completions',
    endpoint: 'chat',
    is_metered: true,
    format: 'chat',
    bytes_in: 400 + randomInt(20_000),
    remote_address: '203.0.113.7',
    user_agent: 'OpenAI/Python 2.11.0',
    model: `dp/${name}`,
    is_stream: true,
    outcome: 'answered',
    status: 200,
    duration_ms: duration,
    first_byte_ms: 300,
    bytes_out: 200 + randomInt(40_000),
    route,
    has_failover: false,
    first_content_ms: 300,
    attempts: [{ route, outcome: 'served', format: 'chat', started_ms: 2, duration_ms: duration }],
    input_tokens: randomInt(8_000),
    output_tokens: randomInt(2_000),
    usage_estimated: false,
  });
}
