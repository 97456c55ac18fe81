import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Command as Parser } from 'commander';
import { data } from '#core/config/sections/core-sections.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import type { BackupSummary } from '#core/platform/backup/verify.ts';
import { listMigrations, type MigrationFiles } from '#core/platform/database/migration-files.ts';
import { findPostmasterPid } from '#core/platform/database/postmaster.ts';
import { version } from '#core/platform/version.ts';
import type { CoreCommandContext } from './context.ts';

const temporaryName = '.restoring';
const replacedPrefix = 'before-restore-';

export function defineRestore(parser: Parser, context: CoreCommandContext): void {
  parser
    .command('restore')
    .argument('<file>', 'a file written by `daypass backup`')
    .description(
      'restore a backup into the data folder, or into the empty database of DATABASE_URL; no gateway may be running',
    )
    .option('--overwrite', 'replace what is in the data folder; it is moved to a folder next to it, not deleted')
    .option('--check', 'only read the whole backup and summarize its contents')
    .addHelpText(
      'after',
      `

The file is read and its checksum verified before anything is changed. Tables are made by the migrations of the backup, filled, and
then migrated to this version. gateway.yaml and .env are not part of a backup.
Exit codes: 0 success, 1 failure, 2 invalid usage.`,
    )
    .action((file: string, options: { overwrite?: true; check?: true }) => restore(context, file, options));
}

async function restore(
  context: CoreCommandContext,
  path: string,
  { overwrite, check }: { readonly overwrite?: true; readonly check?: true },
): Promise<void> {
  const { print } = context;
  const { config, registry } = await context.load();
  const { verifyBackup } = await import('#core/platform/backup/verify.ts');
  const backup = await verifyBackup(path).catch((error: unknown) => {
    throw new CommandFailed(error instanceof Error ? error.message : String(error));
  });
  print(describeBackup(backup));
  const tables = [...registry.databaseTables.values()];
  const migrations = selectMigrations(backup, await listMigrations(tables));
  if (check) return;
  const dataFolder = resolve(dirname(context.file()), config.get(data).folder);
  const parts = { context, path, migrations, tables };
  const databaseUrl = process.env['DATABASE_DIRECT_URL'] || process.env['DATABASE_URL'] || undefined;
  if (databaseUrl === undefined) await restoreFolder(parts, dataFolder, overwrite === true);
  else await restoreDatabase(parts, databaseUrl, dataFolder);
  const versionNote = backup.version === version ? '' : `, migrated from version ${backup.version} to ${version}`;
  print(`restored ${backup.rows} rows${versionNote}; start the gateway: daypass start`);
}

function describeBackup({ version: backupVersion, created_at, rows, tables, journalFiles }: BackupSummary): string {
  return `backup of ${created_at}, made by version ${backupVersion}: ${rows} rows in ${tables} tables, ${journalFiles} files of waiting records; its checksum is correct`;
}

function selectMigrations(
  { migrations, version: backupVersion }: BackupSummary,
  sets: readonly MigrationFiles[],
): MigrationFiles[] {
  const knownNames = new Set(sets.flatMap(({ files }) => [...files.keys()]));
  const unknownNames = migrations.filter((name) => !knownNames.has(name));
  if (unknownNames.length > 0)
    throw new CommandFailed(
      `The backup has tables that this version (${version}) does not know: ${unknownNames.slice(0, 5).join(', ')}. It was made by version ${backupVersion}: restore it with that version or a newer one, and with the same plugins.`,
    );
  const backupMigrations = new Set(migrations);
  return sets
    .map(({ owner, files }) => ({ owner, files: new Map([...files].filter(([name]) => backupMigrations.has(name))) }))
    .filter(({ files }) => files.size > 0);
}

interface RestoreParts {
  readonly context: CoreCommandContext;
  readonly path: string;
  readonly migrations: readonly MigrationFiles[];
  readonly tables: Parameters<typeof listMigrations>[0];
}

/** Fills a temporary folder and then moves it into place. It is inside the data folder, which may be a separate volume. */
async function restoreFolder(parts: RestoreParts, dataFolder: string, overwrite: boolean): Promise<void> {
  const { log } = parts.context;
  await mkdir(dataFolder, { recursive: true });
  const temporary = join(dataFolder, temporaryName);
  await requireStopped(dataFolder);
  // The backup may be in a folder inside the data folder.
  const [backupFolder = ''] = relative(dataFolder, resolve(parts.path)).split(sep);
  const ignoredNames = new Set([temporaryName, 'lost+found', backupFolder]);
  const presentNames = (await readdir(dataFolder)).filter((name) => !ignoredNames.has(name));
  if (presentNames.length > 0 && !overwrite)
    throw new CommandFailed(
      `${dataFolder} is not empty. Restore into an empty folder (data.folder), or use --overwrite, which moves its files to a folder next to it.`,
    );
  const { EmbeddedPostgres } = await import('#core/platform/database/embedded.ts');
  await removeTemporary(temporary);
  const server = await EmbeddedPostgres.open(temporary, log);
  try {
    await fillDatabase(parts, server.url, join(temporary, 'journal'));
  } catch (error) {
    await server.stop();
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
  await server.stop();
  await moveIntoPlace(parts.context, dataFolder, temporary, presentNames);
}

async function requireStopped(dataFolder: string): Promise<void> {
  // A killed gateway may have left the server running.
  if ((await findServerPid(dataFolder)) === undefined) return;
  throw new CommandFailed(`PostgreSQL runs in ${dataFolder}. Stop the gateway first: it stops PostgreSQL as well.`);
}

async function removeTemporary(temporary: string): Promise<void> {
  const pid = await findServerPid(temporary);
  if (pid !== undefined)
    throw new CommandFailed(
      `Another restore is running, or was killed: end the process ${pid} (PostgreSQL in ${temporary}).`,
    );
  await rm(temporary, { recursive: true, force: true });
}

async function findServerPid(dataFolder: string): Promise<number | undefined> {
  const { readAccess } = await import('#core/platform/database/server-access.ts');
  const access = await readAccess(dataFolder);
  return access && findPostmasterPid(access.folder);
}

async function moveIntoPlace(
  { print }: CoreCommandContext,
  dataFolder: string,
  temporary: string,
  present: readonly string[],
): Promise<void> {
  if (present.length > 0) {
    const replacedFolder = join(
      dataFolder,
      `${replacedPrefix}${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`,
    );
    await mkdir(replacedFolder, { mode: 0o700 });
    for (const name of present.filter((entry) => !entry.startsWith(replacedPrefix)))
      await rename(join(dataFolder, name), join(replacedFolder, name));
    print(`the previous files of the data folder are in ${replacedFolder}; delete them when you no longer need them`);
  }
  for (const name of await readdir(temporary)) await rename(join(temporary, name), join(dataFolder, name));
  await rm(temporary, { recursive: true, force: true });
}

async function restoreDatabase(parts: RestoreParts, url: string, dataFolder: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  const countTables = `select count(*)::int as count from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`;
  let count: number | undefined;
  try {
    count = (await client.query<{ count: number }>(countTables)).rows[0]?.count;
  } finally {
    await client.end();
  }
  if (count !== 0)
    throw new CommandFailed(
      'The database of DATABASE_URL has tables. Create an empty one, point DATABASE_URL to it, and restore again.',
    );
  const journal = join(dataFolder, 'journal');
  if ((await readdir(journal).catch(() => [])).length > 0)
    throw new CommandFailed(`${journal} has records that wait for a database. Move that folder away first.`);
  await fillDatabase(parts, url, journal);
}

async function fillDatabase(
  { context, path, migrations, tables }: RestoreParts,
  databaseUrl: string,
  journalFolder: string,
): Promise<void> {
  const [{ applyMigrations }, { loadBackup }, { findMigrationTarget, migrate }] = await Promise.all([
    import('#core/platform/database/apply-migrations.ts'),
    import('#core/platform/backup/load.ts'),
    import('#core/platform/database/migrate.ts'),
  ]);
  await applyMigrations(await findMigrationTarget(databaseUrl), migrations, context.log);
  let tableCount = 0;
  const onTable = (name: string) => {
    if (++tableCount % 20 === 1) context.print(`filling ${name} …`);
  };
  await loadBackup({ path, databaseUrl, journalFolder, onTable });
  await migrate(databaseUrl, context.log, tables);
}
