import { setTimeout } from 'node:timers/promises';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { explainFullDisk } from '../data-folder.ts';
import { describeConnectionError, isUnreachable } from '../errors/connection-error.ts';
import { StartRefused } from '../errors/start-refused.ts';
import type { Logger } from '../logger.ts';
import { waitUnlessAborted, withDeadline } from '../timing/deadline.ts';
import type { Database, RecordReads } from './database.ts';
import { EmbeddedPostgres } from './embedded.ts';
import { Lifetime } from './lifetime.ts';
import { releaseLostClients } from './lost-clients.ts';
import { migrate } from './migrate.ts';
import { PostgresNotifications } from './notifications.ts';
import { findPooler, requireAutocommit, requireUsablePooler, warnAboutRoleSettings } from './pooler.ts';
import { GatewayNaming, schemaGenerator } from './schema-diff.ts';
import { applySettings, expectedSettings, type SessionSettings } from './session.ts';
import { bindParameters, beginDurableSql, queryInTransaction } from './statement.ts';
import type { Entities, PluginTables } from './tables.ts';
import { waitForDatabase } from './wait.ts';

interface OpenDatabaseOptions {
  readonly url?: string | undefined; // DATABASE_URL; default: the embedded server
  readonly directUrl?: string | undefined; // DATABASE_DIRECT_URL: the same database without the pooler; default: `url`
  readonly readUrl?: string | undefined; // DATABASE_READ_URL: a replica, for lists, exports and counts of requests
  readonly dataFolder: string;
  readonly log: Logger;
  readonly mode: 'serve' | 'command'; // a command may run alongside a gateway
  readonly isShared: boolean; // with other gateways
  readonly processes?: number; // of this machine that form one gateway and share its connection limit; default: 1
  readonly entities?: Entities; // core's; default: none, which leaves core's tables accessible only through SQL
  readonly tables?: readonly PluginTables[]; // not an iterator, because retries read them again
  readonly waitSeconds?: number; // while the database of `url` is unreachable; default: 0
  readonly signal?: AbortSignal | undefined;
}

const timeoutsMs = { connect: 5_000, query: 10_000, lock: 5_000, idleTransaction: 30_000 };
const poolSize = 10;
const minPoolSize = 4; // per process, if several share the limit
const priorityPoolSize = 2; // additional, for API requests and payment notifications
const replicaPoolSize = 5; // additional
const idleTimeoutMs = 30_000;
const connectionOptions = {
  connectionTimeoutMillis: timeoutsMs.connect,
  query_timeout: timeoutsMs.query + 1_000,
  application_name: 'daypass',
  keepAlive: true,
};
const readOnlySettings = { default_transaction_read_only: 'on' }; // in case the URL points to the primary by mistake
const sessionSettings = {
  ...expectedSettings,
  statement_timeout: timeoutsMs.query,
  lock_timeout: timeoutsMs.lock,
  idle_in_transaction_session_timeout: timeoutsMs.idleTransaction,
};
const retryPauseMs = 1_000;
const failedStopTimeoutMs = 1_500;
const abandonTimeoutMs = 5_000;

/** Opens and migrates the database. Rejects if it is unreachable, or is used by another gateway and cannot be shared. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const { url, waitSeconds = 0, log, signal } = options;
  const deadline = performance.now() + waitSeconds * 1000;
  for (let attempt = 1; ; attempt++) {
    const remainingSeconds = Math.max(0, Math.ceil((deadline - performance.now()) / 1000));
    try {
      return await openOnce({ ...options, waitSeconds: remainingSeconds });
    } catch (error) {
      // Retries if the database became unavailable while it was being opened, for example because it restarted. The process that uses the
      // embedded server may stop it after this one has found it running; the next attempt waits for that and starts it.
      const mayRetry = url === undefined ? attempt === 1 : remainingSeconds > 0;
      if (!mayRetry || signal?.aborted === true || !isUnreachable(error)) throw error;
      log.warn(`lost the database while opening it (${describeConnectionError(error)}): waiting for it again`);
      await setTimeout(retryPauseMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}

async function openOnce(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const { url: databaseUrl, directUrl, mode, log, isShared } = options;
  checkUrls(options);
  await waitForDatabases(options);
  const pooler = databaseUrl === undefined ? undefined : await findPooler(databaseUrl);
  const separateDirectUrl = directUrl === databaseUrl ? undefined : directUrl;
  if (mode === 'serve') await requireUsablePooler({ mode: pooler, directUrl: separateDirectUrl, isShared }, log);
  const embedded = databaseUrl === undefined ? await openEmbedded(options) : undefined;
  const url = databaseUrl ?? (embedded as EmbeddedPostgres).url;
  const sessionUrl = directUrl ?? url;
  const isPooled = sessionUrl !== url || pooler === 'transaction';
  const hasSessions = sessionUrl !== url || pooler !== 'transaction';
  const lifetime = new Lifetime(sessionUrl, log, options, embedded);
  try {
    return await openMigrated(options, { url, sessionUrl, isPooled, hasSessions }, lifetime);
  } catch (error) {
    await lifetime.end(failedStopTimeoutMs);
    throw error;
  }
}

interface DatabaseUrls {
  readonly url: string;
  readonly sessionUrl: string; // bypasses the pooler of `url`, if possible
  readonly isPooled: boolean; // at `url`
  readonly hasSessions: boolean; // at `sessionUrl`
}

async function openMigrated(
  options: OpenDatabaseOptions,
  { url, sessionUrl, isPooled, hasSessions }: DatabaseUrls,
  lifetime: Lifetime,
): Promise<OpenedDatabase> {
  const { directUrl, readUrl, mode, log, signal, processes = 1, tables = [] } = options;
  const sessionVariable = directUrl === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
  // An aborted start leaves only connections, which end with the process.
  const withDatabaseName = <T>(usedUrl: string, variable: string, work: Promise<T>): Promise<T> =>
    waitUnlessAborted(
      work.catch((error: unknown) => {
        throw lifetime.isEmbedded ? error : explainFailure(error, usedUrl, variable);
      }),
      signal,
    );
  await withDatabaseName(sessionUrl, sessionVariable, lifetime.start());
  const migration = migrate(sessionUrl, log, tables, hasSessions);
  const appliedMigrations = await withDatabaseName(sessionUrl, sessionVariable, migration);
  if (appliedMigrations.length > 0) log.info(`applied migrations: ${appliedMigrations.join(', ')}`);
  if (mode === 'serve' && !lifetime.isEmbedded) {
    await withDatabaseName(url, 'DATABASE_URL', requireAutocommit(url, 'DATABASE_URL'));
    if (sessionUrl !== url)
      await withDatabaseName(sessionUrl, sessionVariable, requireAutocommit(sessionUrl, sessionVariable));
  }
  if (isPooled && mode === 'serve') await waitUnlessAborted(warnAboutRoleSettings(url, log), signal);
  const size = Math.max(minPoolSize, Math.ceil(poolSize / processes));
  const entities = await loadEntities(options.entities, tables);
  const orm = await withDatabaseName(url, 'DATABASE_URL', openOrm({ url, isPooled, size }, entities));
  for (const { steps } of tables) steps?.(orm.config);
  const priorityPool = createPool({ url, isPooled, size: priorityPoolSize });
  const database = new PostgresDatabase(orm, priorityPool, sessionUrl, log, lifetime, !hasSessions);
  if (readUrl !== undefined) {
    const replicaPool = createPool({ url: readUrl, isPooled, size: replicaPoolSize }, readOnlySettings);
    await database.useReplica(replicaPool, isPooled);
  }
  return database;
}

function checkUrls({ url, directUrl, readUrl }: OpenDatabaseOptions): void {
  if (url !== undefined) checkUrl(url);
  if (directUrl !== undefined) checkUrl(directUrl, 'DATABASE_DIRECT_URL');
  if (readUrl === undefined) return;
  checkUrl(readUrl, 'DATABASE_READ_URL');
  if (url !== undefined) return;
  const message = 'DATABASE_READ_URL is the URL of a replica: set DATABASE_URL to the URL of its primary, too.';
  throw new StartRefused(message, { isPermanent: true });
}

async function waitForDatabases(options: OpenDatabaseOptions): Promise<void> {
  const { url, directUrl, waitSeconds = 0, log, signal } = options;
  const deadline = performance.now() + waitSeconds * 1000;
  if (url !== undefined) await waitForDatabase(url, 'DATABASE_URL', { limitSeconds: waitSeconds, log, signal });
  const limitSeconds = Math.max(0, Math.ceil((deadline - performance.now()) / 1000));
  if (directUrl !== undefined) await waitForDatabase(directUrl, 'DATABASE_DIRECT_URL', { limitSeconds, log, signal });
}

async function openEmbedded({ dataFolder, log, signal }: OpenDatabaseOptions): Promise<EmbeddedPostgres> {
  try {
    return await EmbeddedPostgres.open(dataFolder, log, signal);
  } catch (error) {
    throw explainFullDisk(error, dataFolder);
  }
}

async function loadEntities(coreEntities: Entities = [], tables: readonly PluginTables[]): Promise<Entities> {
  const pluginEntities = await Promise.all(
    tables.map(({ entities }) => (typeof entities === 'function' ? entities() : entities)),
  );
  return [...coreEntities, ...pluginEntities.flat()];
}

interface PoolSettings {
  readonly url: string;
  readonly isPooled: boolean; // a pooler rejects session settings; they must be set on the role (docs/scaling.md)
  readonly size: number;
}

async function openOrm({ url, isPooled, size }: PoolSettings, entities: Entities): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: url,
    entities,
    namingStrategy: GatewayNaming,
    schemaGenerator,
    pool: { min: 0, max: size, idleTimeoutMillis: idleTimeoutMs },
    driverOptions: {
      ...connectionOptions,
      ...(!isPooled && { onConnect: (client: pg.PoolClient) => applySettings(client, sessionSettings) }),
      onPoolCreated: releaseLostClients,
    },
    discovery: { warnWhenNoEntities: false },
    // Failures are thrown. The pool would only log lost connections again.
    logger: () => undefined,
  });
}

function createPool({ url, isPooled, size }: PoolSettings, extraSettings: SessionSettings = {}): pg.Pool {
  const options = {
    ...connectionOptions,
    ...(!isPooled && {
      onConnect: (client: pg.ClientBase) => applySettings(client, { ...sessionSettings, ...extraSettings }),
    }),
    max: size,
    idleTimeoutMillis: idleTimeoutMs,
  };
  const pool = new pg.Pool({ ...options, connectionString: url });
  // Emitted when an idle connection is lost. The next query opens a new one.
  pool.on('error', () => undefined);
  releaseLostClients(pool);
  return pool;
}

export interface OpenedDatabase extends Database {
  /** Stops an embedded server that no other gateway uses, even while queries run. Takes a few seconds at most. */
  abandon(): Promise<void>;
}

class PostgresDatabase implements OpenedDatabase {
  readonly kind: Database['kind'];
  readonly url: string;
  readonly notifications: PostgresNotifications;
  readonly #orm: MikroORM;
  readonly #log: Logger;
  readonly #priorityPool: pg.Pool;
  readonly #lifetime: Lifetime;
  #replica: (RecordReads & AsyncDisposable) | undefined;

  constructor(
    orm: MikroORM,
    priorityPool: pg.Pool,
    url: string,
    log: Logger,
    lifetime: Lifetime,
    isTransactionPooled: boolean,
  ) {
    this.kind = lifetime.isEmbedded ? 'embedded' : 'external';
    this.url = url;
    this.notifications = new PostgresNotifications(url, log, isTransactionPooled);
    this.#orm = orm;
    this.#log = log;
    this.#priorityPool = priorityPool;
    this.#lifetime = lifetime;
  }

  fork(): EntityManager {
    return this.#orm.em.fork();
  }

  async query<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    // Bypasses the ORM, which would insert the parameters into the statement's text.
    const pool = await this.#orm.em.getConnection().getNativeClient();
    const { rows } = await pool.query(bindParameters(sql, parameters));
    return rows as Row[];
  }

  async queryFirst<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await this.#priorityPool.query(bindParameters(sql, parameters));
    return rows as Row[];
  }

  async storeFirst<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await queryInTransaction(this.#priorityPool, beginDurableSql, bindParameters(sql, parameters));
    return rows as Row[];
  }

  get records(): RecordReads {
    return this.#replica ?? this;
  }

  async useReplica(pool: pg.Pool, isPooled: boolean): Promise<void> {
    const { Replica } = await import('./replica.ts');
    this.#replica = new Replica({
      primary: (sql, parameters) => this.query(sql, parameters),
      replica: async (sql, parameters = []) => {
        const statement = bindParameters(sql, parameters);
        // A pooler rejects `readOnlySettings`.
        const result = isPooled
          ? await queryInTransaction(pool, 'BEGIN READ ONLY', statement)
          : await pool.query(statement);
        return result.rows;
      },
      close: () => pool.end(),
      log: this.#log,
    });
  }

  async ping(): Promise<void> {
    await this.#lifetime.requireAlive();
    await this.query('SELECT 1');
  }

  async abandon(): Promise<void> {
    const timeoutMessage = `PostgreSQL did not stop within ${abandonTimeoutMs} ms`;
    await withDeadline(this.#lifetime.end(failedStopTimeoutMs), abandonTimeoutMs, timeoutMessage);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // In reverse order; a failure does not keep the others, or an embedded server, open.
    await using stack = new AsyncDisposableStack();
    stack.defer(() => this.#lifetime.end());
    stack.defer(() => this.#orm.close(true));
    stack.defer(() => this.#priorityPool.end());
    stack.use(this.#replica);
    stack.use(this.notifications);
  }
}

/** @throws StartRefused if it is not a PostgreSQL URL; the message omits the URL, which may contain a password */
export function checkUrl(url: string, variable = 'DATABASE_URL'): void {
  const protocol = URL.parse(url)?.protocol;
  if (protocol === 'postgres:' || protocol === 'postgresql:') return;
  const advice = 'Use postgres://user:password@host:5432/database.';
  throw new StartRefused(`${variable} is not a valid PostgreSQL URL. ${advice}`, { isPermanent: true });
}

function explainFailure(error: unknown, url: string, variable: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const { host, pathname } = new URL(url); // without the password
  return new Error(`The database ${host || 'localhost'}${pathname} of ${variable} could not be opened`, {
    // If all addresses of a host refuse the connection, the driver's error has no message.
    cause: error.message === '' ? new Error(String(error.code)) : error,
  });
}
