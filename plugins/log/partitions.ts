import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '#core/platform/database/database.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { removeUnauthenticated } from '#core/gateway/records/unauthenticated.ts';

/** Start of a day in UTC, epoch ms. Each day has a partition of each table, named after the day. */
type Day = number;

/** The tables of records, and of the bodies of requests and replies. */
export type Table = 'request_log' | 'request_content';

const tables: readonly Table[] = ['request_content', 'request_log']; // in dropping order: bodies before their records

const day = 86_400_000; // ms
const daysAhead = 7;

/** Read from the catalog tables: PostgreSQL's cache of names can be older than the lock that guards them. */
const partitionsOf = (table: Table) => `
  SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
  WHERE inhparent = '${table}'::regclass AND child.relname ~ '^${table}_[0-9]{8}$'`;

/** Retention of records: written by the stage, read by the job. */
export interface Retention {
  /** Undefined while no pipeline has a `log` stage; no partitions are dropped then. */
  keepDays: number | undefined;
}

/** Key of the retention for `host.keep`. */
export const retentionKey = 'log/retention';

export function createRetention(): Retention {
  return { keepDays: undefined };
}

/** Idempotent, even if two runs overlap. Partitions exist for a week ahead, and an insert creates a missing one. */
export const partitionJob: JobDefinition = {
  name: 'log-partitions',
  description: 'Creates partitions of request records for the coming days and drops expired ones.',
  schedule: { every: 6 * 60 * 60 },
  async run(_data, host) {
    const { keepDays } = host.keep(retentionKey, createRetention);
    const today = dayOf(host.now());
    // Dropping is final, so the earlier of both clocks counts: a clock that is ahead must not drop partitions.
    const latest = Math.min(today, dayOf(await databaseTimeMs(host.database)));
    const dropped = new Set<string>();
    for (const table of tables) {
      for (let ahead = -1; ahead <= daysAhead; ahead++)
        await ensurePartition(host.database, today + ahead * day, table);
      if (keepDays === undefined) continue;
      for (const name of await dropPartitionsBefore(host.database, latest - keepDays * day, table)) dropped.add(name);
    }
    if (keepDays !== undefined) await removeUnauthenticated(host.database, latest - keepDays * day);
    if (dropped.size > 0) host.log.info(`dropped expired request records of ${[...dropped].toSorted().join(', ')}`);
  },
};

function dayOf(time: number): Day {
  return time - (time % day);
}

async function databaseTimeMs(database: Database): Promise<number> {
  const [row] = await database.query<{ now: string }>('SELECT floor(extract(epoch FROM now()) * 1000)::text AS now');
  return Number(row?.now);
}

/** Creates a day's missing partition as a separate table and then attaches it, which blocks no query. */
export async function ensurePartition(database: Database, start: Day, table: Table = 'request_log'): Promise<void> {
  if ((await partitionNames(database, table)).includes(partitionName(table, start))) return;
  await database.query(creation(table, start));
}

/**
 * Creates the partition of a day if it is missing, and protects it from being dropped until the transaction ends. Fails if a lock
 * is not free within a second.
 */
export async function holdPartition(transaction: EntityManager, start: Day, table: Table): Promise<void> {
  await transaction.execute(creation(table, start));
}

function creation(table: Table, start: Day): string {
  const name = partitionName(table, start);
  return guarded(`
      IF NOT EXISTS (${partitionsOf(table)} AND child.relname = '${name}') THEN
        CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE);
        ALTER TABLE ${table} ATTACH PARTITION ${name}
          FOR VALUES FROM ('${new Date(start).toISOString()}') TO ('${new Date(start + day).toISOString()}');
      END IF;`);
}

/** Drops the partitions before a day, one transaction each. Returns their days, oldest first. */
export async function dropPartitionsBefore(
  database: Database,
  limit: Day,
  table: Table = 'request_log',
): Promise<string[]> {
  const oldest = partitionName(table, limit);
  const names = (await partitionNames(database, table)).filter((name) => name < oldest);
  for (const name of names) await database.query(guarded(`DROP TABLE IF EXISTS ${name};`));
  return names.map((name) => name.slice(-8));
}

/** Names of the existing partitions, oldest first. */
export async function partitionNames(database: Database, table: Table = 'request_log'): Promise<string[]> {
  const rows = await database.query<{ name: string }>(`${partitionsOf(table)} ORDER BY name`);
  return rows.map(({ name }) => name);
}

function partitionName(table: Table, start: Day): string {
  return `${table}_${new Date(start).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/**
 * Runs statements in one transaction, on one instance at a time. It stops waiting for a lock after a second, because all later
 * queries would queue behind it; the job runs again later.
 */
function guarded(statements: string): string {
  return `DO $$ BEGIN
    PERFORM set_config('lock_timeout', '1s', true);
    PERFORM pg_advisory_xact_lock(hashtext('request_log partitions'));
    ${statements}
  END $$`;
}
