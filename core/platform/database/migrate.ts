import type pg from 'pg';
import { StartRefused } from '../errors/start-refused.ts';
import type { Logger } from '../logger.ts';
import { listMigrations, migrationConnection, migrationTable } from './migration-files.ts';
import type { PluginTables } from './tables.ts';
import { withClient } from './with-client.ts';

const lockKey = '7233193826951295840'; // of the advisory lock: "daypass" in ASCII, as eight bytes
const reminderIntervalMs = 10_000;
const lockNotAvailable = '55P03'; // SQLSTATE

/**
 * Applies pending migrations, core's first, and returns their names. If several processes call it, one migrates while the others wait. The
 * lock ends with its transaction, so a dead process does not hold it.
 *
 * @param hasSessions false behind a transaction-mode pooler
 * @throws StartRefused if a new database cannot store all text, or if there is no schema for the tables
 */
export async function migrate(
  url: string,
  log: Logger,
  plugins: Iterable<PluginTables> = [],
  hasSessions = true,
): Promise<string[]> {
  const sets = await listMigrations(plugins);
  return withClient({ connectionString: url, ...migrationConnection }, async (client) => {
    // Usually no migration is pending, so neither the lock nor the migration code is needed.
    const mistake = await findEncodingMistake(client);
    const appliedNames = await readAppliedNames(client);
    if (mistake !== undefined) {
      const { reason, advice } = mistake;
      if (appliedNames === undefined) throw new StartRefused(`${reason}. ${advice}`, { isPermanent: true });
      log.error(`${reason}: other letters fail. ${advice} Then restore a backup into it.`);
    }
    if (sets.every(({ files }) => files.keys().every((name) => appliedNames?.has(name) === true))) return [];
    const schema = await requireSchema(client);
    await acquireLock(client, log);
    const { applyMigrations } = await import('./apply-migrations.ts');
    return applyMigrations({ url, schema, hasSessions }, sets, log);
  });
}

/** @throws StartRefused if no tables can be created in the database */
export async function findMigrationTarget(url: string): Promise<{ url: string; schema: string; hasSessions: true }> {
  const schema = await withClient({ connectionString: url, ...migrationConnection }, requireSchema);
  return { url, schema, hasSessions: true };
}

async function readAppliedNames(client: pg.Client): Promise<ReadonlySet<string> | undefined> {
  const { rows: tables } = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    migrationTable,
  ]);
  if (tables[0]?.exists !== true) return undefined;
  const { rows } = await client.query<{ name: string }>(`SELECT name FROM ${migrationTable}`);
  return new Set(rows.map(({ name }) => name));
}

export async function findEncodingMistake(
  client: pg.Client,
): Promise<{ readonly reason: string; readonly advice: string } | undefined> {
  const { rows } = await client.query<{ encoding: string; name: string }>(
    `SELECT current_setting('server_encoding') AS encoding, current_database() AS name`,
  );
  const { encoding, name } = rows[0] ?? { encoding: '', name: '' };
  if (encoding === 'UTF8') return undefined;
  return {
    reason: `database ${name} has the encoding ${encoding}, not UTF8`,
    advice: `Create another one: CREATE DATABASE daypass ENCODING 'UTF8' TEMPLATE template0.`,
  };
}

/** Returns the migration table's schema, or else the first existing one in the search path. */
async function requireSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ schema: string | null; path: string; role: string; creates: boolean | null }>(
    `SELECT schema, current_setting('search_path') AS path, current_user AS role, has_schema_privilege(to_regnamespace(schema), 'create') AS creates
     FROM (SELECT coalesce((SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass($1)),
       quote_ident(current_schema())) AS schema) AS found`,
    [migrationTable],
  );
  const { schema = null, path = '', role = '', creates } = rows[0] ?? {};
  if (schema !== null && creates === true) return schema;
  const reason =
    schema === null
      ? `no schema in the search_path (${path}) of the role ${role} exists: CREATE SCHEMA "${role}" AUTHORIZATION "${role}"`
      : `the role ${role} may not create tables in the schema ${schema}: GRANT CREATE ON SCHEMA ${schema} TO "${role}"`;
  throw new StartRefused(`The tables cannot be created, because ${reason}, or change its search_path.`, {
    isPermanent: true,
  });
}

/** Waits without limit, because a migration of a large database may take hours. If that process dies, its lock ends. */
async function acquireLock(client: pg.Client, log: Logger): Promise<void> {
  const startedAt = performance.now();
  let isFirstAttempt = true;
  while (!(await tryToLock(client, isFirstAttempt ? 0 : reminderIntervalMs))) {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const suffix = isFirstAttempt ? '' : ` since ${seconds} s`;
    log.info(`another process is migrating the database; waiting for it${suffix}`);
    isFirstAttempt = false;
  }
}

async function tryToLock(client: pg.Client, timeoutMs: number): Promise<boolean> {
  await client.query('BEGIN');
  await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  await client.query('SET LOCAL statement_timeout = 0');
  if (timeoutMs === 0) {
    const { rows } = await client.query<{ free: boolean }>(`SELECT pg_try_advisory_xact_lock(${lockKey}) AS free`);
    if (rows[0]?.free === true) return true;
  } else {
    try {
      await client.query(`SET LOCAL lock_timeout = ${timeoutMs}`);
      await client.query(`SELECT pg_advisory_xact_lock(${lockKey})`);
      return true;
    } catch (error) {
      if ((error as { readonly code?: string }).code !== lockNotAvailable) throw error;
    }
  }
  await client.query('ROLLBACK');
  return false;
}
