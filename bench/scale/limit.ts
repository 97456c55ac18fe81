import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { EmbeddedPostgres } from '#core/platform/database/embedded.ts';
import { startChild, stopChild } from '../child.ts';
import { type Load, loads, sendLoad } from '../load.ts';
import { ProcessTree } from '../peers/process-tree.ts';
import { quantile } from '../statistics.ts';
import { readPostmasterPid } from './postmaster.ts';

const accounts = 50; // with one call in flight each
const warmingCalls = 400; // by each account, before measuring begins
const shippingTimeoutMs = 120_000; // from the last call until all records must be in the database

/** Each account sends its next call when the previous one is answered. */
export async function measureLimit(minutes: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-bench-limit-'));
  // PostgreSQL may run as a different user, which must be able to enter the folder.
  await chmod(folder, 0o755);
  const postgres = await EmbeddedPostgres.open(folder, {
    info: () => undefined,
    warn: console.warn,
    error: console.error,
  });
  const database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  const upstream = await startChild('upstream.ts', []);
  const gateway = await startChild('gateway.ts', [`http://127.0.0.1:${upstream.port}`, postgres.url]);
  try {
    const [small] = loads as [Load];
    const keys = (gateway.visitors ?? []).slice(0, accounts).map(({ key }) => key);
    const call = (key: string) => sendLoad(gateway.port, key, { ...small, concurrency: 1 }, 1);
    await Promise.all(keys.map((key) => sendLoad(gateway.port, key, { ...small, concurrency: 1 }, warmingCalls)));
    await waitForRecords(database, keys.length * warmingCalls);

    const parts = {
      'gateway, main thread': () => readLoopCpuUs(gateway.process.pid ?? 0),
      'gateway, all threads': () => new ProcessTree(gateway.process.pid ?? 0, true).cpuUs,
      PostgreSQL: async () => new ProcessTree(await readPostmasterPid(folder)).cpuUs,
      'load generator': () => new ProcessTree(process.pid, true).cpuUs,
      upstream: () => new ProcessTree(upstream.process.pid ?? 0, true).cpuUs,
    };
    const readAll = async () => Promise.all(Object.values(parts).map(async (read) => read()));
    const before = await countRecords(database);
    const cpuBefore = await readAll();
    const began = performance.now();
    const end = began + minutes * 60_000;
    const times: number[][] = Array.from({ length: Math.ceil(minutes) }, () => []);
    await Promise.all(
      keys.map(async (key) => {
        for (let sentAt = performance.now(); sentAt < end; sentAt = performance.now()) {
          await call(key);
          times[Math.min(times.length - 1, Math.floor((sentAt - began) / 60_000))]?.push(performance.now() - sentAt);
        }
      }),
    );
    const seconds = (performance.now() - began) / 1000;
    const cpu = (await readAll()).map((now, index) => (now - (cpuBefore[index] ?? 0)) / 1e6 / seconds);

    const calls = times.flat();
    console.log(
      `${calls.length} small calls of ${accounts} accounts in ${seconds.toFixed(0)} s, ${cpus().length} cores`,
    );
    console.log(`  ${(calls.length / seconds).toFixed(0)} a second`);
    for (const share of [0.5, 0.99, 0.999, 1])
      console.log(`  p${share * 100}: ${quantile(calls, share).toFixed(1)} ms`);
    console.log(`  calls of each minute: ${times.map((minute) => minute.length).join(', ')}`);
    console.log(`  p99 of each minute, ms: ${times.map((minute) => quantile(minute, 0.99).toFixed(1)).join(', ')}`);
    for (const [index, name] of Object.keys(parts).entries()) console.log(`  ${cpu[index]?.toFixed(2)} cores: ${name}`);
    console.log(`  records lost: ${calls.length + before - (await waitForRecords(database, before + calls.length))}`);
  } finally {
    for (const child of [gateway, upstream]) await stopChild(child.process);
    await database.end();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function waitForRecords(database: pg.Client, expected: number): Promise<number> {
  const deadline = performance.now() + shippingTimeoutMs;
  for (;;) {
    const stored = await countRecords(database);
    if (stored >= expected || performance.now() > deadline) return stored;
    await sleep(500);
  }
}

async function countRecords(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ count: string }>('SELECT count(*) FROM request_log WHERE is_metered');
  return Number(rows[0]?.count);
}

async function readLoopCpuUs(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ', 1).join()) / 1000;
}
