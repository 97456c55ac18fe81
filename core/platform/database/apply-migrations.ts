import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import type pg from 'pg';
import type { Logger } from '../logger.ts';
import { releaseLostClients } from './lost-clients.ts';
import {
  loadMigrations,
  migrationConnection,
  type MigrationFiles,
  type MigrationSet,
  migrationTable,
} from './migration-files.ts';
import { applySettings, expectedSettings } from './session.ts';

const tableLockTimeoutMs = 5_000; // later statements on the table queue behind the lock
const progressIntervalMs = 10_000;

interface MigrationTarget {
  readonly url: string;
  readonly schema: string; // quoted if necessary
  /** False behind a transaction-mode pooler, where session settings would leak to other clients. */
  readonly hasSessions: boolean;
}

/**
 * Applies the pending migrations and returns their names. All files are loaded before the first is applied.
 *
 * Each migration runs in its own transaction. After an interruption, completed migrations remain, and the next start continues. The previous
 * version must therefore work after each migration, not only after the last one (docs/upgrading.md).
 */
export async function applyMigrations(
  target: MigrationTarget,
  files: readonly MigrationFiles[],
  log: Logger,
): Promise<string[]> {
  const applied: string[] = [];
  for (const set of await Promise.all(files.map(loadMigrations))) applied.push(...(await applySet(target, set, log)));
  return applied;
}

async function applySet(target: MigrationTarget, { owner, migrations }: MigrationSet, log: Logger): Promise<string[]> {
  const orm = await openOrm(target, migrations);
  const migrator = new Migrator(orm.em);
  let currentName: string | undefined;
  let startedAt = performance.now();
  migrator.on('migrating', ({ name }) => {
    currentName = name;
    startedAt = performance.now();
  });
  const progress = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    log.info(`migrating the database: ${currentName ?? 'the first migration'} has been running for ${seconds} s`);
  }, progressIntervalMs);
  try {
    const applied = await migrator.up();
    return applied.map(({ name }) => name);
  } catch (error) {
    const tables = owner === undefined ? 'the tables' : `the tables of the plugin ${owner}`;
    const suffix = currentName === undefined ? '' : `: ${currentName} failed`;
    throw new Error(`${tables} could not be migrated${suffix}`, { cause: error });
  } finally {
    clearInterval(progress);
    await orm.close(true);
  }
}

async function openOrm(
  { url, schema, hasSessions }: MigrationTarget,
  migrations: MigrationSet['migrations'],
): Promise<MikroORM> {
  const settings = { ...expectedSettings, statement_timeout: 0, lock_timeout: tableLockTimeoutMs, search_path: schema };
  return MikroORM.init({
    clientUrl: url,
    schema: schema.replace(/^"(.*)"$/, '$1').replaceAll('""', '"'), // default: public
    entities: [],
    pool: { min: 0, max: 2 },
    driverOptions: {
      onPoolCreated: releaseLostClients,
      ...migrationConnection,
      ...(hasSessions && { onConnect: (client: pg.PoolClient) => applySettings(client, settings) }),
    },
    migrations: {
      tableName: migrationTable,
      migrationsList: [...migrations],
      snapshot: false,
      transactional: true,
      allOrNothing: false,
    },
    discovery: { warnWhenNoEntities: false },
    logger: () => undefined,
  });
}
