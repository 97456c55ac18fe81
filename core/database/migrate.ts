import { glob } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MikroORM } from '@mikro-orm/postgresql';
import { type Migration, Migrator } from '@mikro-orm/migrations';
import pg from 'pg';
import type { Logger } from '../logger.ts';

const folder = join(import.meta.dirname, '..', '..', 'migrations');
/** "daypass" in ASCII, cut to eight bytes: the lock under which one process at a time migrates. */
const lockKey = '7233193826951295840';
/** Ms that a process waits for another that migrates. */
const lockTimeout = 120_000;

/** Ms that a migration waits for a table that others use; all who come after it wait as long. */
const tableLockTimeout = 5_000;
/** Of both connections. The database may have a deadline of its own, which must not count either. */
const unhurried = {
  connectionTimeoutMillis: 10_000,
  options: '-c statement_timeout=0',
  application_name: 'daypass-migrate',
  keepAlive: true,
};

type MigrationClass = new (...parameters: ConstructorParameters<typeof Migration>) => Migration;

/** The migrations that come with the gateway, in their order. */
export async function loadMigrations(): Promise<{ name: string; class: MigrationClass }[]> {
  const files = await Array.fromAsync(glob('Migration*.ts', { cwd: folder }));
  return Promise.all(
    files.toSorted().map(async (file) => {
      const name = basename(file, '.ts');
      const module = (await import(pathToFileURL(join(folder, file)).href)) as Record<string, MigrationClass>;
      const migration = module[name];
      if (migration === undefined) throw new Error(`migrations/${file} does not export ${name}`);
      return { name, class: migration };
    }),
  );
}

/**
 * Brings the schema up to date and returns the names of what was done. Any number of processes may do it at once: one
 * works, the others wait for it. The lock ends with its connection, so a process that dies does not keep it.
 */
export async function migrate(url: string, log: Logger): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, ...unhurried });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await lock(client, log);
    const orm = await openOrm(url);
    try {
      const done = await new Migrator(orm.em as never).up();
      return done.map(({ name }) => name);
    } finally {
      await orm.close(true);
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** For migrations alone: they may take as long as they take, while nothing else has to wait for a lock for long. */
async function openOrm(url: string): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: url,
    entities: [],
    pool: { min: 0, max: 2 },
    driverOptions: { ...unhurried, lock_timeout: tableLockTimeout },
    migrations: {
      tableName: 'migration',
      migrationsList: await loadMigrations(),
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
  log.info('another process migrates the database; waiting for it');
  await client.query(`SET lock_timeout = ${lockTimeout}`);
  await client.query(`SELECT pg_advisory_lock(${lockKey})`);
}
