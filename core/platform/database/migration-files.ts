import { readdir } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Migration } from '@mikro-orm/migrations';
import type { PluginTables } from './tables.ts';

interface MigrationClass {
  new (...parameters: ConstructorParameters<typeof Migration>): Migration;
  readonly since?: string; // product version, such as `0.2.0`; databases record only names, so it may be corrected
}

/** Migration files of one owner: paths by name, in order. */
export interface MigrationFiles {
  readonly owner: string | undefined; // a plugin; undefined for core
  readonly files: ReadonlyMap<string, string>;
}

export interface MigrationSet extends Pick<MigrationFiles, 'owner'> {
  readonly migrations: readonly { readonly name: string; readonly class: MigrationClass }[];
}

export const migrationTable = 'migration';

export const migrationConnection = {
  connectionTimeoutMillis: 10_000,
  application_name: 'daypass-migrate',
  keepAlive: true,
};

const coreFolder = join(import.meta.dirname, '..', '..', '..', 'migrations');

/**
 * Lists the migrations of core, then of each plugin. Names of a plugin's migrations start with the plugin's name and a slash.
 *
 * @throws Error that names a folder without migrations
 */
export async function listMigrations(plugins: Iterable<PluginTables>): Promise<MigrationFiles[]> {
  return Promise.all([
    readMigrationFolder(coreFolder, undefined),
    ...[...plugins].flatMap(({ name, migrations }) =>
      migrations === undefined ? [] : [readMigrationFolder(fileURLToPath(migrations), name)],
    ),
  ]);
}

async function readMigrationFolder(folder: string, owner: string | undefined): Promise<MigrationFiles> {
  const files = await readdir(folder).catch((): string[] => []);
  const fileNames = files.filter((file) => /^Migration.*(?<!\.d)\.[tj]s$/.test(file));
  if (fileNames.length === 0)
    throw new Error(`tables "${owner}": no file Migration<digits>_<words>.ts or .js in ${folder}`);
  const prefix = owner === undefined ? '' : `${owner}/`;
  return {
    owner,
    files: new Map(fileNames.toSorted().map((file) => [prefix + parse(file).name, join(folder, file)])),
  };
}

/** @throws Error that names a file without a migration */
export async function loadMigrations({ owner, files }: MigrationFiles): Promise<MigrationSet> {
  const migrations = await Promise.all(
    [...files].map(async ([name, file]) => {
      const module = (await import(pathToFileURL(file).href)) as Record<string, MigrationClass>;
      const migration = module[parse(file).name];
      if (migration === undefined) throw new Error(`${file} must export a class named ${parse(file).name}`);
      return { name, class: migration };
    }),
  );
  return { owner, migrations };
}
