import { MikroORM } from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
import { releaseLostClients } from './lost-clients.ts';
import {
  loadMigrations,
  migrationConnection,
  type MigrationFiles,
  type MigrationSet,
  migrationTable,
} from './migration-files.ts';

/** Ms that a migration waits for a locked table; later statements on the table wait as long. */
const tableLockTimeout = 5_000;

/** Applies what is pending of these migrations, and returns the names. All files are read before the first is applied. */
export async function applyMigrations(url: string, files: readonly MigrationFiles[]): Promise<string[]> {
  const applied: string[] = [];
  for (const set of await Promise.all(files.map(loadMigrations))) applied.push(...(await apply(url, set)));
  return applied;
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
    driverOptions: { onPoolCreated: releaseLostClients, ...migrationConnection, lock_timeout: tableLockTimeout },
    migrations: {
      tableName: migrationTable,
      migrationsList: [...migrations],
      snapshot: false,
      transactional: true,
    },
    discovery: { warnWhenNoEntities: false },
    logger: () => undefined,
  });
}
