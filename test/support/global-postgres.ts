import { randomBytes } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { EmbeddedPostgres } from '#core/platform/database/embedded.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { createPostgresFactory } from '#core/platform/jobs/queue-factory.ts';
import { createMemoryFolder } from './memory-folder.ts';
import { reapWithProcess } from './postgres-reaper.ts';
import { tablesHere } from './registered.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string; // on it, tests may create databases
    templateDatabase: string; // migrated and empty, to copy, with the tables of plugins and jobs
  }
}

/**
 * Settings of a server that exists for one run only, with its write-ahead log in memory. Creating a database takes a checkpoint; with full
 * page writes, every page changed after it would be logged in full.
 */
const settings = ['fsync = off', 'full_page_writes = off', "max_wal_size = '256MB'"];

/**
 * For runs that create hundreds of small databases per minute, which would be vacuumed constantly. A database that grows needs vacuuming:
 * without statistics, PostgreSQL plans for a handful of rows and reads one table once for each row of another.
 */
export const forManyDatabases = ['autovacuum = off'] as const;

const log = { info: () => undefined, warn: console.warn, error: console.error };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres(forManyDatabases);
  project.provide('postgresUrl', postgres.url);
  project.provide('templateDatabase', postgres.templateDatabase);
  return async () => postgres[Symbol.asyncDispose]();
}

export interface TestPostgres extends AsyncDisposable {
  readonly url: string; // on it, databases may be created
  readonly templateDatabase: string; // to copy; has the tables of plugins and jobs, so that a gateway has nothing to migrate
  readonly restart?: ((absence: number) => Promise<void>) | undefined; // after an absence (ms); undefined if the server is not ours
}

/**
 * Uses TEST_DATABASE_URL, or else starts the PostgreSQL that comes with the gateway in a temporary folder. A template database in
 * TEST_TEMPLATE_DATABASE is used as it is.
 */
export async function startPostgres(more: readonly string[] = []): Promise<TestPostgres> {
  const { TEST_DATABASE_URL: given, TEST_TEMPLATE_DATABASE: template } = process.env;
  if (given !== undefined && template !== undefined)
    return { url: given, templateDatabase: template, [Symbol.asyncDispose]: async () => undefined };
  const folder = await createMemoryFolder('daypass-test-');
  const reaper = reapWithProcess(folder);
  // A server started by root runs as a different user, which must be able to enter the folder.
  await chmod(folder, 0o755);
  const embedded = given === undefined ? await EmbeddedPostgres.open(folder, log) : undefined;
  const url = given ?? (embedded as EmbeddedPostgres).url;
  if (embedded !== undefined) {
    for (const setting of [...settings, ...more]) await execute(url, `ALTER SYSTEM SET ${setting}`);
    await execute(url, 'SELECT pg_reload_conf()');
  }
  const templateDatabase = `daypass_template_${randomBytes(4).toString('hex')}`;
  await execute(url, `CREATE DATABASE ${templateDatabase}`);
  const opened = await openDatabase({
    url: withDatabase(url, templateDatabase),
    dataFolder: folder,
    log,
    mode: 'command',
    isShared: true,
    tables: await tablesHere(),
  });
  await opened[Symbol.asyncDispose]();
  await createJobTables(opened.url);
  return {
    url,
    templateDatabase,
    restart: embedded && ((absence) => restart(embedded, absence)),
    async [Symbol.asyncDispose]() {
      await execute(url, `DROP DATABASE IF EXISTS ${templateDatabase} WITH (FORCE)`);
      await embedded?.stop();
      await rm(folder, { recursive: true, force: true });
      reaper[Symbol.dispose]();
    },
  };
}

async function restart(embedded: EmbeddedPostgres, absence: number): Promise<void> {
  await embedded.stop();
  await setTimeout(absence);
  await embedded.restart(AbortSignal.timeout(60_000));
}

/** Without this, every gateway without Redis would create the tables when it starts. */
async function createJobTables(url: string): Promise<void> {
  const queue = createPostgresFactory(url, 'gateway').openQueue();
  await queue.waitUntilReady();
  await queue.close();
}

export async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Copies files: copying through the write-ahead log, which is the default, takes three times as long. */
export async function copyDatabase(url: string, template: string, name: string): Promise<void> {
  await execute(url, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
