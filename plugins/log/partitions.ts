import type { EntityManager } from '@mikro-orm/postgresql';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { removeUnauthenticated } from '#core/gateway/records/unauthenticated.ts';
import type { Database } from '#core/platform/database/database.ts';

type Day = number; // start of a day in UTC, epoch ms; each table has a partition for each day

export type RecordTable = 'request_log' | 'request_content';

const tables: readonly RecordTable[] = ['request_content', 'request_log']; // in the order of dropping: bodies before their records

const dayMs = 86_400_000;
const daysAhead = 7;

/** Reads the catalog tables themselves, because PostgreSQL's cache of names can be older than the lock that guards the partitions. */
const selectPartitions = (table: RecordTable) => `
  SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
  WHERE inhparent = '${table}'::regclass AND child.relname ~ '^${table}_[0-9]{8}$'`;

/** The stage writes it, the job reads it. */
export interface Retention {
  /** Undefined while no pipeline has a `log` stage; no partition is dropped then. */
  keepDays: number | undefined;
}

export const retentionKey = 'log/retention';

export function createRetention(): Retention {
  return { keepDays: undefined };
}

/** Two runs may overlap. Partitions exist a week ahead, and an insert creates one that is missing. */
export const partitionJob: JobDefinition = {
  name: 'log-partitions',
  description: 'Creates partitions of request records for the coming days and drops expired ones.',
  schedule: { every: 6 * 60 * 60 },
  async run(_data, host) {
    const { keepDays } = host.keep(retentionKey, createRetention);
    const today = startOfDay(host.now());
    // Dropping cannot be undone, so the earlier of both clocks counts: a clock that is ahead must not drop partitions.
    const safeToday = Math.min(today, startOfDay(await readDatabaseTimeMs(host.database)));
    const dropped = new Set<string>();
    for (const table of tables) {
      for (let ahead = -1; ahead <= daysAhead; ahead++)
        await ensurePartition(host.database, today + ahead * dayMs, table);
      if (keepDays === undefined) continue;
      for (const name of await dropPartitionsBefore(host.database, safeToday - keepDays * dayMs, table))
        dropped.add(name);
    }
    if (keepDays !== undefined) await removeUnauthenticated(host.database, safeToday - keepDays * dayMs);
    if (dropped.size > 0) host.log.info(`dropped expired request records of ${[...dropped].toSorted().join(', ')}`);
  },
};

function startOfDay(time: number): Day {
  return time - (time % dayMs);
}

async function readDatabaseTimeMs(database: Database): Promise<number> {
  const [row] = await database.query<{ now: string }>('SELECT floor(extract(epoch FROM now()) * 1000)::text AS now');
  return Number(row?.now);
}

/** Creates the partition as a separate table and then attaches it, which blocks no query. */
export async function ensurePartition(
  database: Database,
  start: Day,
  table: RecordTable = 'request_log',
): Promise<void> {
  if ((await listPartitionNames(database, table)).includes(formatPartitionName(table, start))) return;
  await database.query(createPartitionSql(table, start));
}

/**
 * Creates the partition if it is missing, and protects it from being dropped until the transaction ends. Fails if a lock is not free within
 * a second.
 */
export async function protectPartition(transaction: EntityManager, start: Day, table: RecordTable): Promise<void> {
  await transaction.execute(createPartitionSql(table, start));
}

function createPartitionSql(table: RecordTable, start: Day): string {
  const name = formatPartitionName(table, start);
  return withLockSql(`
      IF NOT EXISTS (${selectPartitions(table)} AND child.relname = '${name}') THEN
        CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE);
        ALTER TABLE ${table} ATTACH PARTITION ${name}
          FOR VALUES FROM ('${new Date(start).toISOString()}') TO ('${new Date(start + dayMs).toISOString()}');
      END IF;`);
}

/** Drops each partition in its own transaction. Returns their days, oldest first. */
export async function dropPartitionsBefore(
  database: Database,
  firstDay: Day,
  table: RecordTable = 'request_log',
): Promise<string[]> {
  const firstName = formatPartitionName(table, firstDay);
  const names = (await listPartitionNames(database, table)).filter((name) => name < firstName);
  for (const name of names) await database.query(withLockSql(`DROP TABLE IF EXISTS ${name};`));
  return names.map((name) => name.slice(-8));
}

export async function listPartitionNames(database: Database, table: RecordTable = 'request_log'): Promise<string[]> {
  const rows = await database.query<{ name: string }>(`${selectPartitions(table)} ORDER BY name`);
  return rows.map(({ name }) => name);
}

function formatPartitionName(table: RecordTable, start: Day): string {
  return `${table}_${new Date(start).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

function withLockSql(statements: string): string {
  // Runs on one instance at a time. A wait for a lock ends after a second, because all later queries would queue behind it; the job runs
  // again later.
  return `DO $$ BEGIN
    PERFORM set_config('lock_timeout', '1s', true);
    PERFORM pg_advisory_xact_lock(hashtext('request_log partitions'));
    ${statements}
  END $$`;
}
