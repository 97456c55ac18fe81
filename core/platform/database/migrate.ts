import pg from 'pg';
import type { Logger } from '../logger.ts';
import { listMigrations, type MigrationFiles, migrationConnection, migrationTable } from './migration-files.ts';
import type { PluginTables } from './tables.ts';

/** "daypass" in ASCII, cut to eight bytes: the lock under which one process at a time migrates. */
const lockKey = '7233193826951295840';
/** Ms that a process waits for another one's migration. */
const lockTimeout = 120_000;

/**
 * Applies pending migrations, core's first, and returns their names. Any number of processes may call it at once: one
 * migrates, the others wait. The lock ends with its connection, so a dead process does not hold it.
 */
export async function migrate(url: string, log: Logger, plugins: Iterable<PluginTables> = []): Promise<string[]> {
  const sets = await listMigrations(plugins);
  const client = new pg.Client({ connectionString: url, ...migrationConnection });
  client.on('error', () => undefined);
  await client.connect();
  try {
    // Usually nothing is: a start then needs neither the lock nor the migrations and what runs them.
    if (!(await hasPending(client, sets))) return [];
    await lock(client, log);
    const { applyMigrations } = await import('./apply-migrations.ts');
    return await applyMigrations(url, sets);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function hasPending(client: pg.Client, sets: readonly MigrationFiles[]): Promise<boolean> {
  const { rows: tables } = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    migrationTable,
  ]);
  if (tables[0]?.exists !== true) return true;
  const { rows } = await client.query<{ name: string }>(`SELECT name FROM ${migrationTable}`);
  const applied = new Set(rows.map(({ name }) => name));
  return sets.some(({ files }) => files.keys().some((name) => !applied.has(name)));
}

async function lock(client: pg.Client, log: Logger): Promise<void> {
  const { rows } = await client.query<{ free: boolean }>(`SELECT pg_try_advisory_lock(${lockKey}) AS free`);
  if (rows[0]?.free === true) return;
  log.info('another process is migrating the database; waiting for it');
  await client.query(`SET lock_timeout = ${lockTimeout}`);
  await client.query(`SELECT pg_advisory_lock(${lockKey})`);
}
