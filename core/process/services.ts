import { randomBytes } from 'node:crypto';
import { ensureUniqueAddresses } from '#core/business/accounts/duplicate-addresses.ts';
import { recordPersonalTables } from '#core/business/accounts/personal-tables.ts';
import { keepActions } from '#core/business/operator-actions/actions.ts';
import { keepProviders } from '#core/business/payments/connections.ts';
import { Keeper } from '#core/extension/keeper.ts';
import type { Registry } from '#core/extension/registry.ts';
import { EventBus } from '#core/gateway/events/event-bus.ts';
import type { Host, Services } from '#core/gateway/host/host.ts';
import { runInBackground } from '#core/platform/background.ts';
import { prepareDataFolder } from '#core/platform/data-folder.ts';
import { openDatabase, type OpenedDatabase } from '#core/platform/database/open.ts';
import { readDatabaseWaitSeconds } from '#core/platform/database/wait.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { type JobQueue, openJobs } from '#core/platform/jobs/open.ts';
import type { Logger } from '#core/platform/logger.ts';
import { ProcessMemory, unlimitedMemory } from '#core/platform/memory/budget.ts';
import { computeCacheSizes, computeCapacity, type MemoryLimits } from '#core/platform/memory/limits.ts';
import { openShared } from '#core/platform/shared/open.ts';
import { parseRedisUrl } from '#core/platform/shared/redis-url.ts';
import type { Shared } from '#core/platform/shared/shared.ts';
import { DeadlineExceeded, waitUnlessAborted, withDeadline } from '#core/platform/timing/deadline.ts';
import { coreEntities } from './entities.ts';

interface ServicesOptions {
  readonly dataFolder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly registry: Registry;
  /** `serve`: owns the embedded database. `command`: uses the database of a running gateway. */
  readonly mode: 'serve' | 'command';
  readonly host: () => Host;
  readonly limits?: MemoryLimits; // default: none, because commands hold no bodies
  readonly processes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const abandonTimeoutMs = 1_000; // per service

/** Closed in reverse order. */
export class OpenServices implements AsyncDisposable {
  readonly services: Services;
  readonly keeper: Keeper;
  readonly events: EventBus<Host>;
  readonly #jobs: JobQueue;
  readonly #database: OpenedDatabase;
  readonly #openServices: AsyncDisposable[];

  private constructor(
    services: Services,
    keeper: Keeper,
    events: EventBus<Host>,
    jobs: JobQueue,
    database: OpenedDatabase,
    open: AsyncDisposable[],
  ) {
    this.services = services;
    this.keeper = keeper;
    this.events = events;
    this.#jobs = jobs;
    this.#database = database;
    this.#openServices = open;
  }

  static async open({
    dataFolder,
    environment,
    log,
    registry,
    mode,
    host,
    limits,
    processes = 1,
    signal,
  }: ServicesOptions): Promise<OpenServices> {
    const redisUrl = environment['REDIS_URL'] || undefined;
    // Jobs must not be evicted. The requests' shared state may be evicted if it is in another Redis.
    const queueUrl = redisUrl && (environment['REDIS_QUEUE_URL'] || redisUrl);
    if (redisUrl !== undefined) parseRedisUrl(redisUrl);
    if (queueUrl !== undefined) parseRedisUrl(queueUrl, 'REDIS_QUEUE_URL');
    const openServices: AsyncDisposable[] = [];
    const memory = limits === undefined ? unlimitedMemory : new ProcessMemory(computeCapacity(limits));
    if (mode === 'serve') await prepareDataFolder(dataFolder);
    try {
      const database = await openDatabase({
        url: environment['DATABASE_URL'] || undefined,
        directUrl: environment['DATABASE_DIRECT_URL'] || undefined,
        readUrl: mode === 'serve' ? environment['DATABASE_READ_URL'] || undefined : undefined,
        dataFolder,
        log,
        mode,
        isShared: redisUrl !== undefined,
        processes,
        waitSeconds: mode === 'serve' ? readDatabaseWaitSeconds(environment) : 0,
        entities: coreEntities,
        tables: [...registry.databaseTables.values()],
        signal,
      });
      openServices.push(database);
      const shared = await waitUnlessAborted(
        openShared({ redisUrl, log, memory: { memory, ...(limits && { sizes: computeCacheSizes(limits) }) } }),
        signal,
      );
      openServices.push(shared);
      if (mode === 'serve') await checkStores(database, shared, queueUrl, log);
      const events = new EventBus(shared.events, registry.eventHandlers, host, log);
      openServices.push(events);
      const jobs = openJobs({
        databaseUrl: database.url,
        redisUrl: queueUrl,
        definitions: registry.jobs,
        host,
        log,
      });
      openServices.push(jobs);
      const keeper = new Keeper();
      openServices.push(keeper);
      keepProviders(keeper, registry.paymentProviders);
      keepActions(keeper, registry.actions);
      const services: Services = {
        instance: randomBytes(6).toString('hex'),
        dataFolder,
        isProduction: environment['NODE_ENV'] === 'production',
        log,
        database,
        shared,
        jobs,
        events,
        memory,
        now: () => Date.now(),
        monotonic: () => performance.now(),
        keep: (key, create) => keeper.keep(key, create),
      };
      return new OpenServices(services, keeper, events, jobs, database, openServices);
    } catch (error) {
      await closeAll(openServices, log, abandonTimeoutMs);
      throw error;
    }
  }

  /** Starts running jobs. `host` must be able to return a host by then. */
  runJobs(): void {
    this.#jobs.work();
  }

  /** If a service fails to close, the failure is logged and the others are still closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await closeAll(this.#openServices, this.services.log);
  }

  /** Stops the embedded server within seconds, unless another gateway uses it. */
  async abandonDatabase(): Promise<void> {
    await this.#database.abandon();
  }

  /** For a failed start. Services that take too long to close stay open and end with the process. */
  async abandon(): Promise<void> {
    await closeAll(this.#openServices, this.services.log, abandonTimeoutMs);
  }
}

async function checkStores(
  database: OpenedDatabase,
  shared: Shared,
  queueUrl: string | undefined,
  log: Logger,
): Promise<void> {
  await reportUnreachableRedis(shared, log);
  // Awaited, because a connection attempt in the background would block a stop right after the start.
  await recordPersonalTables(database).catch((error: unknown) =>
    log.error('the list of tables with personal data could not be recorded', error),
  );
  await ensureUniqueAddresses(database, log).catch((error: unknown) =>
    log.error('could not ensure that e-mail addresses are unique', error),
  );
  if (queueUrl === undefined) return;
  const { warnAboutEviction } = await import('#core/platform/jobs/eviction.ts');
  runInBackground(log, 'checking the Redis for jobs', () => warnAboutEviction(queueUrl, log));
}

async function reportUnreachableRedis(shared: Shared, log: Logger): Promise<void> {
  try {
    await shared.ping();
  } catch (error) {
    log.error(
      `the Redis of REDIS_URL cannot be used (${describeConnectionError(error)}); the gateway starts degraded: until Redis is back, rate limits apply to each instance separately, and jobs wait`,
    );
  }
}

async function closeAll(services: AsyncDisposable[], log: Logger, timeoutMs = Infinity): Promise<void> {
  for (const service of services.toReversed()) {
    try {
      await withDeadline(
        Promise.resolve(service[Symbol.asyncDispose]()),
        timeoutMs,
        `not closed after ${timeoutMs} ms`,
      );
    } catch (error) {
      // After a failed start, a service that takes too long is closed when the process exits.
      if (timeoutMs === Infinity || !(error instanceof DeadlineExceeded))
        log.error('a service could not be closed', error);
    }
  }
}
