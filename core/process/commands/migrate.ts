import type { Command as Parser } from 'commander';
import { type MigrationFiles, listMigrations, loadMigrations } from '#core/platform/database/migration-files.ts';
import type { CoreCommandContext } from './context.ts';

export function defineMigrate(parser: Parser, { load, log, print, withHost }: CoreCommandContext): void {
  parser
    .command('migrate')
    .description(
      'apply pending migrations, including those of plugins, and list all applied ones with the versions that added them; safe to run concurrently',
    )
    .action(async () => {
      const { DATABASE_URL: url } = process.env;
      const { readDatabaseWaitSeconds, waitForDatabase } = await import('#core/platform/database/wait.ts');
      const maxWait = readDatabaseWaitSeconds(process.env);
      if (url && maxWait > 0) await waitForDatabase(url, 'DATABASE_URL', { limitSeconds: maxWait, log });
      const rows = await withHost(({ database }) =>
        database.query<{ name: string }>('SELECT name FROM migration ORDER BY id'),
      );
      const { registry } = await load();
      const versions = await readMigrationVersions(await listMigrations(registry.databaseTables.values()));
      for (const { name } of rows)
        print(`${name}  ${versions.get(name) ?? 'from a newer version, or from a removed plugin'}`);
      print('the database is up to date');
    });
}

async function readMigrationVersions(sets: readonly MigrationFiles[]): Promise<Map<string, string>> {
  const loadedSets = await Promise.all(sets.map(loadMigrations));
  return new Map(
    loadedSets.flatMap(({ migrations }) => migrations.map(({ name, class: { since } }) => [name, since ?? ''])),
  );
}
