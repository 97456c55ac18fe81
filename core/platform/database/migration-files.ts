import { glob } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Migration } from '@mikro-orm/migrations';
import type { PluginTables } from './tables.ts';

type MigrationClass = new (...parameters: ConstructorParameters<typeof Migration>) => Migration;

/** Migrations of one owner, in their order. */
export interface MigrationSet {
  /** The plugin that they belong to; undefined for core. */
  readonly owner: string | undefined;
  readonly migrations: readonly { readonly name: string; readonly class: MigrationClass }[];
}

const coreFolder = join(import.meta.dirname, '..', '..', '..', 'migrations');

/**
 * The migrations of core, then those of each plugin. Names of plugins' migrations begin with the plugin's name and a slash.
 *
 * @throws Error naming the file that is not a migration, or the folder that has none
 */
export async function loadMigrations(plugins: Iterable<PluginTables>): Promise<MigrationSet[]> {
  return Promise.all([
    readFolder(coreFolder, undefined),
    ...[...plugins].flatMap(({ name, migrations }) =>
      migrations === undefined ? [] : [readFolder(fileURLToPath(migrations), name)],
    ),
  ]);
}

async function readFolder(folder: string, owner: string | undefined): Promise<MigrationSet> {
  const files = await Array.fromAsync(glob('Migration*.{ts,js}', { cwd: folder, exclude: ['*.d.ts'] }));
  if (files.length === 0)
    throw new Error(`tables "${owner}": no file Migration<digits>_<words>.ts or .js in ${folder}`);
  const migrations = await Promise.all(
    files.toSorted().map(async (file) => {
      const { name } = parse(file);
      const module = (await import(pathToFileURL(join(folder, file)).href)) as Record<string, MigrationClass>;
      const migration = module[name];
      if (migration === undefined) throw new Error(`${join(folder, file)} must export a class named ${name}`);
      return { name: owner === undefined ? name : `${owner}/${name}`, class: migration };
    }),
  );
  return { owner, migrations };
}
