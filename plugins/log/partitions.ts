import type { Database } from '#core/database/database.ts';
import type { JobDefinition } from '#core/jobs/definition.ts';

/** Epoch ms at which a day begins in UTC. Each day has a partition of each table, named after the day. */
export type Day = number;

/** Records, and what was asked and answered. */
export type Table = 'request_log' | 'request_content';

/** What belongs to records goes before them. */
const tables: readonly Table[] = ['request_content', 'request_log'];

const day = 86_400_000; // ms
const daysAhead = 7;

/** Read from the tables themselves: what PostgreSQL remembers of names may be older than the lock that guards them. */
const partitionsOf = (table: Table) => `
  SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
  WHERE inhparent = '${table}'::regclass AND child.relname ~ '^${table}_[0-9]{8}$'`;

/** How long records are kept; the stage says it, the job reads it. */
export interface Retention {
  /** Undefined while no pipeline has a `log` stage: then nothing is dropped. */
  keepDays: number | undefined;
}

/** The name under which the stage keeps it, with `host.keep`. */
export const retentionKey = 'log/retention';

/** Nothing is dropped until a stage says for how long records are kept. */
export function createRetention(): Retention {
  return { keepDays: undefined };
}

/**
 * Safe to run twice and at the same time. Running late does no harm for a week, and then none either: whoever inserts
 * makes the partition that is missing.
 */
export const partitionJob: JobDefinition = {
  name: 'log-partitions',
  description: 'Makes the partitions of request records for the days to come and drops those that are too old.',
  schedule: { every: 6 * 60 * 60 },
  async run(_data, host) {
    const { keepDays } = host.keep(retentionKey, createRetention);
    const today = host.now() - (host.now() % day);
    const dropped = new Set<string>();
    for (const table of tables) {
      for (let ahead = -1; ahead <= daysAhead; ahead++)
        await ensurePartition(host.database, today + ahead * day, table);
      if (keepDays === undefined) continue;
      for (const name of await dropPartitionsBefore(host.database, today - keepDays * day, table)) dropped.add(name);
    }
    if (dropped.size > 0) host.log.info(`dropped the request records of ${[...dropped].toSorted().join(', ')}`);
  },
};

/**
 * Makes a day's partition when it is missing. It is made as a table of its own and then attached: that takes no lock on
 * the table that anybody who reads or writes would have to wait for.
 */
export async function ensurePartition(database: Database, start: Day, table: Table = 'request_log'): Promise<void> {
  const name = partitionName(table, start);
  if ((await partitionNames(database, table)).includes(name)) return;
  await database.query(
    guarded(`
      IF NOT EXISTS (${partitionsOf(table)} AND child.relname = '${name}') THEN
        CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE);
        ALTER TABLE ${table} ATTACH PARTITION ${name}
          FOR VALUES FROM ('${new Date(start).toISOString()}') TO ('${new Date(start + day).toISOString()}');
      END IF;`),
  );
}

/** Drops whole days, one transaction each. Returns the days, oldest first. */
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

/** The partitions that there are, oldest first. */
export async function partitionNames(database: Database, table: Table = 'request_log'): Promise<string[]> {
  const rows = await database.query<{ name: string }>(`${partitionsOf(table)} ORDER BY name`);
  return rows.map(({ name }) => name);
}

function partitionName(table: Table, start: Day): string {
  return `${table}_${new Date(start).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/**
 * One transaction, one instance at a time. It gives up after a second of waiting for a lock instead of holding up
 * everybody who comes after it, and is tried again later.
 */
function guarded(statements: string): string {
  return `DO $$ BEGIN
    PERFORM set_config('lock_timeout', '1s', true);
    PERFORM pg_advisory_xact_lock(hashtext('request_log partitions'));
    ${statements}
  END $$`;
}
