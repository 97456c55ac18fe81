import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Command as Parser } from 'commander';
import { data } from '#core/config/sections/core-sections.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import type { BackupSummary } from '#core/platform/backup/verify.ts';
import { listMigrations, type MigrationFiles } from '#core/platform/database/migration-files.ts';
import { postmasterPid } from '#core/platform/database/postmaster.ts';
import { version } from '#core/platform/version.ts';
import type { CoreCommandContext } from './context.ts';

/** Suffix next to the replaced file, on the same disk; renamed when complete. */
const halfDone = '.restoring';
const replacedPrefix = 'before-restore-';

export function defineRestore(parser: Parser, context: CoreCommandContext): void {
  parser
    .command('restore')
    .argument('<file>', 'a file that `daypass backup` has written')
    .description(
      'restore a backup into the data folder, or into the empty database of DATABASE_URL; no gateway may run',
    )
    .option('--overwrite', 'replace what the data folder has; it is moved into a folder beside it, and not deleted')
    .option('--check', 'only read the whole file, and say what is in it')
    .addHelpText(
      'after',
      `

The file is read and its checksum compared before anything is touched. Tables are made by the migrations of the backup, filled, and
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
  const found = await verifyBackup(path).catch((error: unknown) => {
    throw new CommandFailed(error instanceof Error ? error.message : String(error));
  });
  print(describe(found));
  const tables = [...registry.databaseTables.values()];
  const migrations = requireKnown(found, await listMigrations(tables));
  if (check) return;
  const dataFolder = resolve(dirname(context.file()), config.get(data).folder);
  const parts = { context, path, migrations, tables };
  const databaseUrl = process.env['DATABASE_DIRECT_URL'] || process.env['DATABASE_URL'] || undefined;
  if (databaseUrl === undefined) await restoreFolder(parts, dataFolder, overwrite === true);
  else await restoreDatabase(parts, databaseUrl, dataFolder);
  const older = found.version === version ? '' : `, migrated from version ${found.version} to ${version}`;
  print(`restored ${found.rows} rows${older}; start the gateway: daypass start`);
}

function describe({ version: made, created_at, rows, tables, journalFiles }: BackupSummary): string {
  return `backup of ${created_at}, made by version ${made}: ${rows} rows in ${tables} tables, ${journalFiles} files of waiting records; its checksum is right`;
}

function requireKnown({ migrations, version: made }: BackupSummary, sets: readonly MigrationFiles[]): MigrationFiles[] {
  const known = new Set(sets.flatMap(({ files }) => [...files.keys()]));
  const unknown = migrations.filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new CommandFailed(
      `The backup has tables that this version (${version}) does not know: ${unknown.slice(0, 5).join(', ')}. It was made by version ${made}: restore it with that version or a newer one, and with the same plugins.`,
    );
  const wanted = new Set(migrations);
  return sets
    .map(({ owner, files }) => ({ owner, files: new Map([...files].filter(([name]) => wanted.has(name))) }))
    .filter(({ files }) => files.size > 0);
}

interface RestoreParts {
  readonly context: CoreCommandContext;
  readonly path: string;
  readonly migrations: readonly MigrationFiles[];
  readonly tables: Parameters<typeof listMigrations>[0];
}

/** Builds the new data folder inside the gateway's, which may be a volume, and moves it into place when complete. */
async function restoreFolder(parts: RestoreParts, dataFolder: string, overwrite: boolean): Promise<void> {
  const { log } = parts.context;
  await mkdir(dataFolder, { recursive: true });
  const temporary = join(dataFolder, halfDone);
  await requireStopped(dataFolder);
  // The backup folder may be inside the data folder.
  const [backups = ''] = relative(dataFolder, resolve(parts.path)).split(sep);
  const others = new Set([halfDone, 'lost+found', backups]);
  const present = (await readdir(dataFolder)).filter((name) => !others.has(name));
  if (present.length > 0 && !overwrite)
    throw new CommandFailed(
      `${dataFolder} is not empty. Restore into an empty folder (data.folder), or use --overwrite, which moves its files into a folder beside it.`,
    );
  const { EmbeddedPostgres } = await import('#core/platform/database/embedded.ts');
  await discard(temporary);
  const server = await EmbeddedPostgres.open(temporary, log);
  try {
    await fill(parts, server.url, join(temporary, 'journal'));
  } catch (error) {
    await server.stop();
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
  await server.stop();
  await replace(parts.context, dataFolder, temporary, present);
}

/** @throws CommandFailed while a database server runs in the folder, a gateway's or one left by a killed gateway */
async function requireStopped(dataFolder: string): Promise<void> {
  if ((await serverPid(dataFolder)) === undefined) return;
  throw new CommandFailed(`PostgreSQL runs in ${dataFolder}. Stop the gateway first: it stops PostgreSQL as well.`);
}

async function discard(temporary: string): Promise<void> {
  const pid = await serverPid(temporary);
  if (pid !== undefined)
    throw new CommandFailed(
      `Another restore runs, or was killed: end the process ${pid} (PostgreSQL in ${temporary}).`,
    );
  await rm(temporary, { recursive: true, force: true });
}

async function serverPid(dataFolder: string): Promise<number | undefined> {
  const { readAccess } = await import('#core/platform/database/server-access.ts');
  const access = await readAccess(dataFolder);
  return access && postmasterPid(access.folder);
}

async function replace(
  { print }: CoreCommandContext,
  dataFolder: string,
  temporary: string,
  present: readonly string[],
): Promise<void> {
  if (present.length > 0) {
    const before = join(dataFolder, `${replacedPrefix}${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`);
    await mkdir(before, { mode: 0o700 });
    for (const name of present.filter((one) => !one.startsWith(replacedPrefix)))
      await rename(join(dataFolder, name), join(before, name));
    print(`the previous files of the data folder are in ${before}; delete them when you no longer need them`);
  }
  for (const name of await readdir(temporary)) await rename(join(temporary, name), join(dataFolder, name));
  await rm(temporary, { recursive: true, force: true });
}

async function restoreDatabase(parts: RestoreParts, url: string, dataFolder: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  const tables = `select count(*)::int as count from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`;
  let count: number | undefined;
  try {
    count = (await client.query<{ count: number }>(tables)).rows[0]?.count;
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
  await fill(parts, url, journal);
}

async function fill(
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
  let filled = 0;
  const onTable = (name: string) => {
    if (++filled % 20 === 1) context.print(`filling ${name} …`);
  };
  await loadBackup({ path, databaseUrl, journalFolder, onTable });
  await migrate(databaseUrl, context.log, tables);
}
