import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from '../logger.ts';
import { bind } from './bind.ts';
import type { Database } from './database.ts';
import { EmbeddedPostgres } from './embedded.ts';
import { entities } from './entities.ts';
import { migrate } from './migrate.ts';
import { PostgresNotifications } from './notifications.ts';
import type { PluginTables } from './tables.ts';
import { isClaimed, OnlyInstance } from './only-instance.ts';
import { checkUrl, explainFailure } from './explain-failure.ts';

export interface OpenDatabaseOptions {
  /** DATABASE_URL; without it the embedded server is used. */
  readonly url?: string | undefined;
  readonly dataFolder: string;
  readonly log: Logger;
  /** `serve`: for a gateway. `command`: for a short command that may run next to a gateway. */
  readonly mode: 'serve' | 'command';
  /** True when other gateways may use the database at the same time. */
  readonly isShared: boolean;
  /** Tables that plugins bring. */
  readonly tables?: Iterable<PluginTables>;
}

/** Ms. A slow database must not block the gateway. */
const deadlines = { connect: 5_000, query: 10_000, lock: 5_000, idleTransaction: 30_000 };
const poolSize = 10;

/**
 * Opens the database and migrates it.
 *
 * @throws Error when it cannot be reached, or another gateway uses it that it cannot be shared with
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const { url: given, dataFolder, log, mode, isShared } = options;
  const tables = [...(options.tables ?? [])];
  if (given !== undefined) checkUrl(given);
  const embedded = given === undefined ? await EmbeddedPostgres.open(dataFolder, log) : undefined;
  const url = given ?? (embedded as EmbeddedPostgres).url;
  let only: OnlyInstance | undefined;
  try {
    if (mode === 'serve' && !isShared) {
      only = await OnlyInstance.claim(url, log);
      if (only === undefined) throw new Error(explainSecond(embedded !== undefined, dataFolder));
    }
    const names = await migrate(url, log, tables);
    if (names.length > 0) log.info(`applied migrations: ${names.join(', ')}`);
    const orm = await openOrm(url, tables);
    return new PostgresDatabase(orm, url, log, embedded, only, mode);
  } catch (error) {
    await only?.[Symbol.asyncDispose]();
    if (embedded?.isOurs === true) await embedded.stop();
    throw given === undefined ? error : explainFailure(error, given);
  }
}

function explainSecond(isEmbedded: boolean, dataFolder: string): string {
  if (isEmbedded) return `Another gateway runs on ${dataFolder}. Stop it, or set another data.folder.`;
  return 'Another gateway uses this database. Several gateways need Redis to share their limits: set REDIS_URL for all of them.';
}

async function openOrm(url: string, tables: readonly PluginTables[]): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: url,
    entities: [...entities, ...tables.flatMap((one) => one.entities)],
    // BullMQ migrates its own schema; a diff of entities must not drop it.
    schemaGenerator: { ignoreSchema: ['bullmq'] },
    pool: { min: 0, max: poolSize, idleTimeoutMillis: 30_000 },
    driverOptions: {
      connectionTimeoutMillis: deadlines.connect,
      query_timeout: deadlines.query + 1_000,
      statement_timeout: deadlines.query,
      lock_timeout: deadlines.lock,
      idle_in_transaction_session_timeout: deadlines.idleTransaction,
      application_name: 'daypass',
      keepAlive: true,
    },
    discovery: { warnWhenNoEntities: false },
    // Failures reach the caller; the pool's own messages about lost connections would only repeat them.
    logger: () => undefined,
  });
}

class PostgresDatabase implements Database {
  readonly kind: Database['kind'];
  readonly url: string;
  readonly notifications: PostgresNotifications;
  readonly #orm: MikroORM;
  readonly #embedded: EmbeddedPostgres | undefined;
  readonly #only: OnlyInstance | undefined;
  readonly #mode: OpenDatabaseOptions['mode'];

  constructor(
    orm: MikroORM,
    url: string,
    log: Logger,
    embedded: EmbeddedPostgres | undefined,
    only: OnlyInstance | undefined,
    mode: OpenDatabaseOptions['mode'],
  ) {
    this.kind = embedded === undefined ? 'external' : 'embedded';
    this.url = url;
    this.notifications = new PostgresNotifications(url, log);
    this.#orm = orm;
    this.#embedded = embedded;
    this.#only = only;
    this.#mode = mode;
  }

  fork(): EntityManager {
    return this.#orm.em.fork();
  }

  async query<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    // Bypasses the ORM, which writes parameters into the text of the statement.
    const pool = await this.#orm.em.getConnection().getNativeClient();
    const { rows } = await pool.query(bind(sql, parameters));
    return rows as Row[];
  }

  async ping(): Promise<void> {
    await this.query('SELECT 1');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.notifications[Symbol.asyncDispose]();
    await this.#orm.close(true);
    await this.#only?.[Symbol.asyncDispose]();
    if (this.#embedded !== undefined && (await this.#mayStop(this.#embedded))) await this.#embedded.stop();
  }

  /** A gateway stops its server; a command stops the one that it started, unless a gateway has connected since. */
  async #mayStop({ isOurs, url }: EmbeddedPostgres): Promise<boolean> {
    if (this.#mode === 'serve') return true;
    return isOurs && !(await isClaimed(url).catch(() => true));
  }
}
