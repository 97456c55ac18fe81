import { setTimeout } from 'node:timers/promises';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import type { Logger } from '../logger.ts';
import type { Database, RecordReads } from './database.ts';
import { explainFullDisk } from '../data-folder.ts';
import { describeConnectionError, isUnreachable } from '../errors/connection-error.ts';
import { StartRefused } from '../errors/start-refused.ts';
import { EmbeddedPostgres } from './embedded.ts';
import { Lifetime } from './lifetime.ts';
import { releaseLostClients } from './lost-clients.ts';
import { migrate } from './migrate.ts';
import { PostgresNotifications } from './notifications.ts';
import { GatewayNaming, schemaGenerator } from './schema-diff.ts';
import { findPooler, requireEndedStatements, requireUsablePooler, warnOfRoleSettings } from './pooler.ts';
import { applySettings, expectedSettings, type SessionSettings } from './session.ts';
import { bind, durable, queryWithin } from './statement.ts';
import type { Entities, PluginTables } from './tables.ts';
import { waitForDatabase } from './wait.ts';
import { waitUnlessAborted, withDeadline } from '../timing/deadline.ts';

interface OpenDatabaseOptions {
  /** DATABASE_URL; by default, the embedded server is used. */
  readonly url?: string | undefined;
  /** DATABASE_DIRECT_URL: the same database without the pooler of `url`, for work that needs a session. Default: `url`. */
  readonly directUrl?: string | undefined;
  /** DATABASE_READ_URL: a replica of `url`, for lists, exports and counts of requests. */
  readonly readUrl?: string | undefined;
  readonly dataFolder: string;
  readonly log: Logger;
  /** `serve`: for a gateway. `command`: for a command that may run next to a gateway. */
  readonly mode: 'serve' | 'command';
  readonly isShared: boolean;
  /** Processes of this machine that form one gateway and share its connection limit. Default: 1. */
  readonly processes?: number;
  readonly entities?: Entities; // of core; default: none, so that only SQL can use its tables
  readonly tables?: Iterable<PluginTables>;
  /** Seconds to wait while the database of `url` is unreachable; default: 0. */
  readonly wait?: number;
  readonly signal?: AbortSignal | undefined;
}

const deadlines = { connect: 5_000, query: 10_000, lock: 5_000, idleTransaction: 30_000 }; // ms
const poolSize = 10;
const minPoolSize = 4; // per process, when several share the limit
/** Additional connections for API requests and payment notifications, and to the replica. */
const priorityPoolSize = 2;
const replicaPoolSize = 5;
const idleTimeout = 30_000; // ms
const connectionOptions = {
  connectionTimeoutMillis: deadlines.connect,
  query_timeout: deadlines.query + 1_000,
  application_name: 'daypass',
  keepAlive: true,
};
/** In case the URL points to the primary by mistake. */
const readOnly = { default_transaction_read_only: 'on' };
/** PostgreSQL's timeouts of statements, lock waits and idle transactions, ms. */
const sessionSettings = {
  ...expectedSettings,
  statement_timeout: deadlines.query,
  lock_timeout: deadlines.lock,
  idle_in_transaction_session_timeout: deadlines.idleTransaction,
};
const retryPauseMs = 1_000;
const failedStopTimeoutMs = 1_500;
const abandonTimeoutMs = 5_000;

/**
 * Opens the database and migrates it.
 *
 * @throws Error if it is unreachable, or is used by another gateway and cannot be shared
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const { url, wait = 0, log, signal } = options;
  const until = performance.now() + wait * 1000;
  for (;;) {
    const left = Math.max(0, Math.ceil((until - performance.now()) / 1000));
    try {
      return await openNow({ ...options, wait: left });
    } catch (error) {
      // The database became unavailable while it was being opened, for example because it restarted.
      if (url === undefined || left === 0 || signal?.aborted === true || !isUnreachable(error)) throw error;
      log.warn(
        `the database went away while it was being opened (${describeConnectionError(error)}): waiting for it again`,
      );
      await setTimeout(retryPauseMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}

async function openNow(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const { url: given, directUrl, readUrl, mode, log, signal, processes = 1, wait = 0 } = options;
  const tables = [...(options.tables ?? [])];
  if (given !== undefined) checkUrl(given);
  if (directUrl !== undefined) checkUrl(directUrl, 'DATABASE_DIRECT_URL');
  if (readUrl !== undefined) checkUrl(readUrl, 'DATABASE_READ_URL');
  if (readUrl !== undefined && given === undefined)
    throw new StartRefused(
      'DATABASE_READ_URL is the URL of a replica: set DATABASE_URL to that of its primary as well.',
      {
        isPermanent: true,
      },
    );
  if (given !== undefined) await waitForDatabase(given, 'DATABASE_URL', { limit: wait, log, signal });
  if (directUrl !== undefined) await waitForDatabase(directUrl, 'DATABASE_DIRECT_URL', { limit: wait, log, signal });
  const pooler = given === undefined ? undefined : await findPooler(given);
  const other = directUrl === given ? undefined : directUrl;
  if (mode === 'serve') await requireUsablePooler({ mode: pooler, directUrl: other, isShared: options.isShared }, log);
  const embedded = given === undefined ? await openEmbedded(options) : undefined;
  const url = given ?? (embedded as EmbeddedPostgres).url;
  const direct = directUrl ?? url;
  const lifetime = new Lifetime(direct, log, options, embedded);
  try {
    // An aborted start leaves only connections, which end with the process.
    await waitUnlessAborted(lifetime.begin(), signal);
    const names = await waitUnlessAborted(
      migrate(direct, log, tables, pooler !== 'transaction' || direct !== url),
      signal,
    );
    if (names.length > 0) log.info(`applied migrations: ${names.join(', ')}`);
    if (mode === 'serve' && given !== undefined) {
      await waitUnlessAborted(requireUsable(url, 'DATABASE_URL'), signal);
      if (direct !== url) await waitUnlessAborted(requireUsable(direct, 'DATABASE_DIRECT_URL'), signal);
    }
    const size = Math.max(minPoolSize, Math.ceil(poolSize / processes));
    const isPooled = direct !== url || pooler === 'transaction';
    if (isPooled && mode === 'serve') await waitUnlessAborted(warnOfRoleSettings(url, log), signal);
    const settings = { url, isPooled, size };
    const orm = await waitUnlessAborted(openOrm(settings, await loadEntities(options.entities, tables)), signal);
    for (const { steps } of tables) steps?.(orm.config);
    const isDeaf = pooler === 'transaction' && direct === url;
    const database = new PostgresDatabase(orm, createPool(settings, priorityPoolSize), direct, log, lifetime, isDeaf);
    if (readUrl !== undefined)
      await database.readFrom(createPool({ ...settings, url: readUrl }, replicaPoolSize, readOnly), isPooled);
    return database;
  } catch (error) {
    await lifetime.end(failedStopTimeoutMs);
    const variable = directUrl === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
    throw given === undefined ? error : explainFailure(error, direct, variable);
  }
}

async function requireUsable(url: string, variable: string): Promise<void> {
  try {
    await requireEndedStatements(url, variable);
  } catch (error) {
    throw explainFailure(error, url, variable);
  }
}

async function openEmbedded({ dataFolder, log, signal }: OpenDatabaseOptions): Promise<EmbeddedPostgres> {
  try {
    return await EmbeddedPostgres.open(dataFolder, log, signal);
  } catch (error) {
    throw explainFullDisk(error, dataFolder);
  }
}

async function loadEntities(ofCore: Entities = [], tables: readonly PluginTables[]): Promise<Entities> {
  const ofPlugins = await Promise.all(
    tables.map(({ entities }) => (typeof entities === 'function' ? entities() : entities)),
  );
  return [...ofCore, ...ofPlugins.flat()];
}

interface PoolSettings {
  readonly url: string;
  /** A pooler rejects session settings; they must be set on the role (docs/scaling.md). */
  readonly isPooled: boolean;
  readonly size: number;
}

async function openOrm({ url, isPooled, size }: PoolSettings, entities: Entities): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: url,
    entities,
    namingStrategy: GatewayNaming,
    schemaGenerator,
    pool: { min: 0, max: size, idleTimeoutMillis: idleTimeout },
    driverOptions: {
      ...connectionOptions,
      ...(!isPooled && { onConnect: (client: pg.PoolClient) => applySettings(client, sessionSettings) }),
      onPoolCreated: releaseLostClients,
    },
    discovery: { warnWhenNoEntities: false },
    // Failures reach the caller; the pool's messages about lost connections would repeat them.
    logger: () => undefined,
  });
}

function createPool({ url, isPooled }: PoolSettings, size: number, more: SessionSettings = {}): pg.Pool {
  const options = {
    ...connectionOptions,
    ...(!isPooled && {
      onConnect: (client: pg.ClientBase) => applySettings(client, { ...sessionSettings, ...more }),
    }),
    max: size,
    idleTimeoutMillis: idleTimeout,
  };
  const pool = new pg.Pool({ ...options, connectionString: url });
  // An idle connection was lost; the next query opens a new one.
  pool.on('error', () => undefined);
  releaseLostClients(pool);
  return pool;
}

/** A database with operations for the process that opened it. */
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

  /**
   * @param url bypasses any pooler
   * @param isDeaf the only connection is through a pooler that delivers no notifications
   */
  constructor(orm: MikroORM, priorityPool: pg.Pool, url: string, log: Logger, lifetime: Lifetime, isDeaf: boolean) {
    this.kind = lifetime.isEmbedded ? 'embedded' : 'external';
    this.url = url;
    this.notifications = new PostgresNotifications(url, log, isDeaf);
    this.#orm = orm;
    this.#log = log;
    this.#priorityPool = priorityPool;
    this.#lifetime = lifetime;
  }

  fork(): EntityManager {
    return this.#orm.em.fork();
  }

  async query<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    // Bypasses the ORM, which inserts parameters into the text of the statement.
    const pool = await this.#orm.em.getConnection().getNativeClient();
    const { rows } = await pool.query(bind(sql, parameters));
    return rows as Row[];
  }

  async queryFirst<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await this.#priorityPool.query(bind(sql, parameters));
    return rows as Row[];
  }

  async storeFirst<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await queryWithin(this.#priorityPool, durable, bind(sql, parameters));
    return rows as Row[];
  }

  get records(): RecordReads {
    return this.#replica ?? this;
  }

  /**
   * Reads records through these connections to a replica.
   *
   * @param isPooled if no settings can be sent, each transaction is started read-only
   */
  async readFrom(pool: pg.Pool, isPooled: boolean): Promise<void> {
    const { Replica } = await import('./replica.ts');
    this.#replica = new Replica({
      primary: (sql, parameters) => this.query(sql, parameters),
      replica: async (sql, parameters = []) => {
        const bound = bind(sql, parameters);
        return (isPooled ? await queryWithin(pool, 'BEGIN READ ONLY', bound) : await pool.query(bound)).rows;
      },
      close: () => pool.end(),
      log: this.#log,
    });
  }

  async ping(): Promise<void> {
    await this.#lifetime.check();
    await this.query('SELECT 1');
  }

  async abandon(): Promise<void> {
    const timeoutMessage = `PostgreSQL did not stop within ${abandonTimeoutMs} ms`;
    await withDeadline(this.#lifetime.end(failedStopTimeoutMs), abandonTimeoutMs, timeoutMessage);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.notifications[Symbol.asyncDispose]();
    await this.#replica?.[Symbol.asyncDispose]();
    await this.#priorityPool.end();
    await this.#orm.close(true);
    await this.#lifetime.end();
  }
}

/**
 * Checks the URL of a database.
 *
 * @param name of the variable
 * @throws StartRefused if it is not a PostgreSQL URL; without the URL, which may contain a password
 */
export function checkUrl(url: string, name = 'DATABASE_URL'): void {
  const protocol = URL.parse(url)?.protocol;
  if (protocol === 'postgres:' || protocol === 'postgresql:') return;
  const use = 'Use postgres://user:password@host:5432/database.';
  throw new StartRefused(`${name} is not a valid PostgreSQL URL. ${use}`, { isPermanent: true });
}

/**
 * Adds the database to a connection error, without the password. Other errors are returned unchanged.
 *
 * @param variable that contains the URL
 */
function explainFailure(error: unknown, url: string, variable: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const { host, pathname } = new URL(url);
  return new Error(`The database ${host || 'localhost'}${pathname} of ${variable} could not be opened`, {
    // If all addresses of a host refuse, the driver throws an error without a message.
    cause: error.message === '' ? new Error(String(error.code)) : error,
  });
}
