import { MikroORM } from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
import pg from 'pg';
import type { Logger } from '../logger.ts';
import { releaseLostClients } from './lost-clients.ts';
import { loadMigrations, type MigrationSet } from './migration-files.ts';
import type { PluginTables } from './tables.ts';

/** "daypass" in ASCII, cut to eight bytes: the lock under which one process at a time migrates. */
const lockKey = '7233193826951295840';
/** Ms that a process waits for another one's migration. */
const lockTimeout = 120_000;

/** Ms that a migration waits for a locked table; later statements on the table wait as long. */
const tableLockTimeout = 5_000;
/** Settings of both connections: no statement timeout, not even one configured in the database. */
const unhurried = {
  connectionTimeoutMillis: 10_000,
  options: '-c statement_timeout=0',
  application_name: 'daypass-migrate',
  keepAlive: true,
};

/**
 * Applies pending migrations, core's first, and returns their names. Any number of processes may call it at once: one
 * migrates, the others wait. The lock ends with its connection, so a dead process does not hold it.
 */
export async function migrate(url: string, log: Logger, plugins: Iterable<PluginTables> = []): Promise<string[]> {
  const sets = await loadMigrations(plugins);
  const client = new pg.Client({ connectionString: url, ...unhurried });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await lock(client, log);
    const applied: string[] = [];
    for (const set of sets) applied.push(...(await apply(url, set)));
    return applied;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** All migrations of an owner are applied, or none of them. */
async function apply(url: string, { owner, migrations }: MigrationSet): Promise<string[]> {
  const orm = await openOrm(url, migrations);
  const migrator = new Migrator(orm.em as never);
  let current: string | undefined;
  migrator.on('migrating', ({ name }) => {
    current = name;
  });
  try {
    const applied = await migrator.up();
    return applied.map(({ name }) => name);
  } catch (error) {
    if (owner === undefined) throw error;
    const where = current === undefined ? '' : `: ${current} failed`;
    throw new Error(`the tables of the plugin ${owner} could not be migrated${where}`, { cause: error });
  } finally {
    await orm.close(true);
  }
}

/** A migration has no timeout, but does not wait long for a lock. */
async function openOrm(url: string, migrations: MigrationSet['migrations']): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: url,
    entities: [],
    pool: { min: 0, max: 2 },
    driverOptions: { onPoolCreated: releaseLostClients, ...unhurried, lock_timeout: tableLockTimeout },
    migrations: {
      tableName: 'migration',
      migrationsList: [...migrations],
      snapshot: false,
      transactional: true,
    },
    discovery: { warnWhenNoEntities: false },
    logger: () => undefined,
  });
}

async function lock(client: pg.Client, log: Logger): Promise<void> {
  const { rows } = await client.query<{ free: boolean }>(`SELECT pg_try_advisory_lock(${lockKey}) AS free`);
  if (rows[0]?.free === true) return;
  log.info('another process is migrating the database; waiting for it');
  await client.query(`SET lock_timeout = ${lockTimeout}`);
  await client.query(`SELECT pg_advisory_lock(${lockKey})`);
}
