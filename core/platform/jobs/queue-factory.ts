import type { EventEmitter } from 'node:events';
import { callbackify } from 'node:util';
import {
  createIORedisClient,
  createPostgresBackend,
  createRedisBackend,
  type IRedisClient,
  type Job,
  type JobsOptions,
  RedisConnection,
  withBackend,
  type Worker,
} from 'bullmq';
import type { Cluster, RedisOptions } from 'ioredis';
import pg from 'pg';
import { applySettings, type SessionSettings, waitingSettings } from '../database/session.ts';
import type { JsonObject } from '../json.ts';
import { createCluster, quietHandshake, redisRetryDelay, StrictRedis } from '../shared/redis-client.ts';
import { type RedisAddress, parseRedisUrl } from '../shared/redis-url.ts';
import { Backoff } from '../timing/backoff.ts';
import { maxListedFailedJobs, type Jobs, type FailedJob, type QueueState } from './jobs.ts';

const workerOptions = { autorun: false, concurrency: 4, maxStalledCount: 5 }; // a job whose process dies runs again, up to five times

/** The parts of BullMQ that the gateway uses, with the same interface for both stores. */
export interface QueueFactory {
  readonly backend: Jobs['backend'];
  openQueue(): BullQueue;
  openWorker(run: (job: Job) => Promise<void>): BullWorker;
}

export interface BullQueue {
  waitUntilReady(): Promise<unknown>;
  add(name: string, data: JsonObject, options: JobsOptions): Promise<unknown>;
  getJobSchedulers(): Promise<BullScheduler[]>;
  removeJobScheduler(id: string): Promise<boolean>;
  upsertJobScheduler(id: string, repeat: object, template: object): Promise<unknown>;
  getJobCounts(...types: ('wait' | 'active' | 'prioritized')[]): Promise<Record<string, number>>;
  /** @param end inclusive; negative values count from the end */
  getWaiting(start: number, end: number): Promise<Job[]>;
  getFailed(start: number, end: number): Promise<Job[]>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  close(): Promise<void>;
}

export interface BullScheduler {
  readonly key: string;
  readonly next?: number | undefined; // of the planned run, epoch ms
}

export interface BullWorker {
  /** Rejects if the store is unreachable. The worker then cannot be used. */
  waitUntilReady(): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Emitted when the store has responded to a request for a job, with or without one. */
  on(event: 'fetched', listener: () => void): unknown;
  on(event: 'failed', listener: (job: Job | undefined, error: Error) => void): unknown;
  run(): Promise<void>;
  close(): Promise<void>; // waits for running jobs
  disconnect(): Promise<void>; // abandons running jobs
}

export function createPostgresFactory(connectionString: string, queueName: string): QueueFactory {
  const { Queue, Worker } = withBackend(createBackend);
  const BackoffWorker = createBackoffWorker(Worker as never);
  const connection = { ...createPoolConfig(connectionString), migrate: true };
  return {
    backend: 'postgres',
    openQueue: () => new Queue(queueName, { connection }),
    openWorker: (run) => new BackoffWorker(queueName, run, { connection, ...workerOptions } as never),
  };
}

export function createPoolConfig(connectionString: string) {
  return {
    connectionString,
    // One for each concurrent job, and two for the worker's polling, so that jobs that are due at the same full minute do not wait.
    max: workerOptions.concurrency + 2,
    connectionTimeoutMillis: 5_000,
    application_name: 'daypass-jobs',
    Client: JobsClient,
  } satisfies pg.PoolConfig;
}

/**
 * A client that always has an `error` listener. BullMQ uses clients of its pool without one, and removes all listeners of the listening
 * client before it ends. A connection that breaks at such a moment would end the process. The next query still fails, and is retried.
 */
class JobsClient extends pg.Client {
  readonly #settings: SessionSettings;

  constructor(config?: string | pg.ClientConfig) {
    const { options = '', ...clientConfig } = typeof config === 'string' ? { connectionString: config } : { ...config };
    super(clientConfig);
    // BullMQ sets its schema in `options`, which `options` in the URL would replace and PgBouncer rejects.
    const path = /-c search_path=(\S+)/.exec(options)?.[1];
    this.#settings = { ...waitingSettings, ...(path !== undefined && { search_path: path }) };
    this.on('error', ignoreError);
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<this> | void {
    const connection = super
      .connect()
      .then(() => applySettings(this, this.#settings))
      .then(() => this);
    if (callback === undefined) return connection;
    callbackify(() => connection)(callback);
  }

  override removeAllListeners(event?: string | symbol): this {
    super.removeAllListeners(event);
    if (this.listenerCount('error') === 0) this.on('error', ignoreError);
    return this;
  }
}

function ignoreError(): void {}

/** BullMQ takes the class of the listening client from `pgModule`, not from the pool's configuration. */
const createBackend: typeof createPostgresBackend = (...parameters) => {
  const backend = createPostgresBackend(...parameters);
  const { connection } = backend as unknown as { connection: { pgModule: object } };
  connection.pgModule = { Client: JobsClient };
  return backend;
};

export function createRedisFactory(url: string, queueName: string, prefix = 'gw:jobs'): QueueFactory {
  const address = parseRedisUrl(url, 'REDIS_QUEUE_URL');
  if (address.cluster !== undefined) return createClusterFactory(address, queueName, prefix);
  const { Queue, Worker } = withBackend(createRedisBackend);
  const BackoffWorker = createBackoffWorker(Worker as never);
  const versionCheck = new VersionCheck();
  RedisConnection.clientFactory = createClient;
  const commonOptions = {
    ...address,
    ...quietHandshake,
    enableReadyCheck: address.sentinels !== undefined,
    retryStrategy: redisRetryDelay,
  };
  return {
    backend: 'redis',
    openQueue() {
      const connection = { ...commonOptions, maxRetriesPerRequest: 1, enableOfflineQueue: false };
      return versionCheck.watch(new Queue(queueName, { connection, prefix, ...versionCheck.options }));
    },
    openWorker(run) {
      const connection = { ...commonOptions, maxRetriesPerRequest: null };
      const options = { connection, prefix, ...workerOptions, ...versionCheck.options };
      return new BackoffWorker(queueName, run, options);
    },
  };
}

function createClient({ url, ...redisOptions }: RedisOptions & { readonly url?: string }): IRedisClient {
  const options = redisOptions as Omit<RedisOptions, 'replyMapping'>;
  return createIORedisClient(url === undefined ? new StrictRedis(options) : new StrictRedis(url, options));
}

/** BullMQ reads the version with INFO, and fails if that is not permitted. The next queue then skips the check, and delays are whole seconds. */
class VersionCheck {
  options: { readonly skipVersionCheck?: true } = {};

  watch(queue: BullQueue): BullQueue {
    queue.on('error', ({ message }) => {
      if (/\binfo\b/i.test(message)) this.options = { skipVersionCheck: true };
    });
    return queue;
  }
}

/** BullMQ's scripts use many keys, so the braces in the prefix keep the whole queue on one node. */
function createClusterFactory(address: RedisAddress, queueName: string, plainPrefix: string): QueueFactory {
  const { Queue, Worker } = withBackend(createRedisBackend);
  const BackoffWorker = createBackoffWorker(Worker as never);
  const prefix = plainPrefix.replace(/[^:]+$/, '{$&}');
  const versionCheck = new VersionCheck();
  const connect = () =>
    createCluster(address, {
      lazyConnect: true,
      clusterRetryStrategy: redisRetryDelay,
      redisOptions: { maxRetriesPerRequest: null },
    });
  return {
    backend: 'redis',
    openQueue() {
      const connection = connect();
      const queue = new Queue(queueName, { connection, prefix, ...versionCheck.options });
      return closeWithConnection(versionCheck.watch(queue as unknown as BullQueue), connection);
    },
    openWorker(run) {
      const connection = connect();
      const worker = new BackoffWorker(queueName, run, {
        connection,
        prefix,
        ...workerOptions,
        ...versionCheck.options,
      });
      return closeWithConnection(worker as unknown as BullWorker, connection);
    },
  };
}

/** BullMQ only closes connections that it has opened. */
function closeWithConnection<Client extends BullQueue | BullWorker>(client: Client, connection: Cluster): Client {
  const close = client.close.bind(client);
  client.close = () => close().finally(() => connection.disconnect());
  return client;
}

const retryRange = { min: 100, max: 5_000 };

/**
 * BullMQ pauses only after ECONNREFUSED and retries immediately after any other failure. It would poll a starting PostgreSQL in a busy
 * loop, and a connection that never became ready fails without any I/O, which would block the event loop.
 */
function createBackoffWorker(Base: typeof Worker): typeof Worker {
  return class extends Base {
    readonly #backoff = new Backoff(retryRange);
    readonly #closing = new AbortController();

    override async close(force?: boolean): Promise<void> {
      this.#closing.abort();
      await super.close(force);
    }

    protected override async moveToActive(token: string, name?: string) {
      try {
        const job = await super.moveToActive(token, name);
        this.#backoff.reset();
        (this as EventEmitter).emit('fetched');
        return job;
      } catch (error) {
        await this.#backoff.wait(this.#closing.signal);
        throw error;
      }
    }
  };
}

const maxFailureAgeMs = 24 * 3_600_000;

export async function readQueueState(queue: BullQueue): Promise<QueueState> {
  const [counts, waiting, failed] = await Promise.all([
    queue.getJobCounts('wait', 'active', 'prioritized'),
    queue.getWaiting(0, 0),
    queue.getFailed(0, maxListedFailedJobs - 1),
  ]);
  const now = Date.now();
  const recent = failed.map(describeFailedJob).filter(({ failedAt }) => now - failedAt < maxFailureAgeMs);
  return {
    waiting: (counts['wait'] ?? 0) + (counts['prioritized'] ?? 0),
    running: counts['active'] ?? 0,
    oldestWaitMs: Math.max(0, ...waiting.map((job) => now - computeDueTime(job))),
    failed: recent.sort((a, b) => b.failedAt - a.failedAt),
  };
}

function describeFailedJob({ name, failedReason, finishedOn, timestamp }: Job): FailedJob {
  return { name, reason: failedReason, failedAt: finishedOn ?? timestamp };
}

function computeDueTime({ timestamp, delay }: Job): number {
  return timestamp + delay;
}
