import type { Options } from '@mikro-orm/postgresql';
import type { RegisterSteps } from './steps.ts';

/** MikroORM entities: values returned by `defineEntity`, or classes attached to them with `setClass`. */
export type Entities = NonNullable<Options['entities']>;

/**
 * Tables of one plugin: its entities, and the migrations that create them.
 *
 * Migrations run after core's, in the order of their file names, at `daypass start` and `daypass migrate`. Each is recorded as
 * `name/Migration…`, so two plugins may use the same file name. Tables remain when the plugin is removed.
 */
export interface PluginTables {
  /** Unique name in snake_case. Each of the plugin's tables has this name, or starts with it and an underscore. */
  readonly name: string;
  /** Entities, or a function that loads them when the database is opened. */
  readonly entities: Entities | (() => Promise<Entities>);
  /**
   * Folder of files named `Migration<digits>_<words>.ts` or `.js`. Each exports a class named after the file that
   * extends `Migration`. Released files never change. Omitted if migrations of the gateway create the tables.
   */
  readonly migrations?: URL;
  /** Callbacks in core's transactions that keep these tables consistent with core's tables. */
  readonly steps?: RegisterSteps;
}

/**
 * Checks the name of a plugin's tables, and the name of each table. Loads MikroORM if there are entities. Lazily loaded entities are not
 * checked.
 *
 * @throws Error that names a table outside the plugin's namespace, or an entity without a table
 */
export async function checkTableNames({ name, entities }: PluginTables): Promise<void> {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`tables "${name}": the name must be snake_case`);
  if (typeof entities === 'function') return;
  for (const entity of entities) {
    const table = await readTableName(entity);
    if (table === undefined)
      throw new Error(
        `tables "${name}": ${describeEntity(entity)} must be a result of defineEntity, or a class set on one with setClass`,
      );
    if (table === name || table.startsWith(`${name}_`)) continue;
    throw new Error(`tables "${name}": the table "${table}" must be named "${name}" or begin with "${name}_"`);
  }
}

async function readTableName(entity: Entities[number]): Promise<string | undefined> {
  const { EntitySchema } = await import('@mikro-orm/core');
  if (EntitySchema.is(entity)) return entity.tableName;
  return EntitySchema.REGISTRY.get(entity as never)?.tableName;
}

function describeEntity(entity: Entities[number]): string {
  return typeof entity === 'function' ? `class ${entity.name}` : JSON.stringify(entity);
}
