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
import type { EventEmitter } from 'node:events';
import { callbackify } from 'node:util';
import type { Cluster, RedisOptions } from 'ioredis';
import pg from 'pg';
import type { JsonObject } from '../json.ts';
import { applySettings, type SessionSettings, waitingSettings } from '../database/session.ts';
import { createCluster, quietHandshake, redisRetryDelay, SelectingRedis } from '../shared/redis-client.ts';
import { type RedisAddress, redisAddress } from '../shared/redis-url.ts';
import type { Jobs, FailedJob, QueueState } from './jobs.ts';
import { Backoff } from '../timing/backoff.ts';

/** The parts of BullMQ that are used, with the same interface for both stores. */
export interface QueueKit {
  readonly backend: Jobs['backend'];
  queue(): KitQueue;
  worker(process: (job: Job) => Promise<void>): KitWorker;
}

export interface KitQueue {
  waitUntilReady(): Promise<unknown>;
  add(name: string, data: JsonObject, options: JobsOptions): Promise<unknown>;
  getJobSchedulers(): Promise<KitScheduler[]>;
  removeJobScheduler(id: string): Promise<boolean>;
  upsertJobScheduler(id: string, repeat: object, template: object): Promise<unknown>;
  getJobCounts(...types: ('wait' | 'active' | 'prioritized')[]): Promise<Record<string, number>>;
  /** @param end inclusive; negative values count from the end */
  getWaiting(start: number, end: number): Promise<Job[]>;
  getFailed(start: number, end: number): Promise<Job[]>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  close(): Promise<void>;
}

export interface KitScheduler {
  readonly key: string;
  /** Epoch ms of the planned run. */
  readonly next?: number | undefined;
}

export interface KitWorker {
  /** Rejects if the store is unreachable; the worker is unusable then. */
  waitUntilReady(): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** The store responded to a request for a job, whether or not there was one. */
  on(event: 'fetched', listener: () => void): unknown;
  on(event: 'failed', listener: (job: Job | undefined, error: Error) => void): unknown;
  run(): Promise<void>;
  /** Waits for running jobs. */
  close(): Promise<void>;
  /** Abandons running jobs. */
  disconnect(): Promise<void>;
}

export function postgresKit(connectionString: string, queueName: string): QueueKit {
  const { Queue, Worker } = withBackend(createBackend);
  const Paced = pausingWorker(Worker as never);
  const connection = { ...jobsPool(connectionString), migrate: true };
  return {
    backend: 'postgres',
    queue: () => new Queue(queueName, { connection }) as unknown as KitQueue,
    worker: (process) =>
      new Paced(queueName, process, { connection, ...workerOptions } as never) as unknown as KitWorker,
  };
}

/** Returns the settings for the pool that BullMQ opens. */
export function jobsPool(connectionString: string) {
  return {
    connectionString,
    // One for each concurrent job, and two for the worker's polling: otherwise jobs that all fall due at a full minute wait.
    max: workerOptions.concurrency + 2,
    connectionTimeoutMillis: 5_000,
    application_name: 'daypass-jobs',
    Client: JobsClient,
  } satisfies pg.PoolConfig;
}

/**
 * BullMQ uses clients of its pool without an `error` listener, and removes all listeners of the listening one before ending it: a
 * connection that breaks at such a moment would end the process. The next query still fails, and is retried.
 */
class JobsClient extends pg.Client {
  readonly #settings: SessionSettings;

  constructor(config?: string | pg.ClientConfig) {
    const { options = '', ...given } = typeof config === 'string' ? { connectionString: config } : { ...config };
    super(given);
    // BullMQ sets its schema in `options`, which `options` in the URL would replace, and PgBouncer rejects.
    const path = /-c search_path=(\S+)/.exec(options)?.[1];
    this.#settings = { ...waitingSettings, ...(path !== undefined && { search_path: path }) };
    this.on('error', ignore);
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<this> | void {
    const connected = super
      .connect()
      .then(() => applySettings(this, this.#settings))
      .then(() => this);
    if (callback === undefined) return connected;
    callbackify(() => connected)(callback);
  }

  override removeAllListeners(event?: string | symbol): this {
    super.removeAllListeners(event);
    if (this.listenerCount('error') === 0) this.on('error', ignore);
    return this;
  }
}

function ignore(): void {}

/** BullMQ takes the class of the listening client from `pgModule`, not from the pool's settings. */
const createBackend: typeof createPostgresBackend = (...given) => {
  const backend = createPostgresBackend(...given);
  const { connection } = backend as unknown as { connection: { pgModule: object } };
  connection.pgModule = { Client: JobsClient };
  return backend;
};

export function redisKit(url: string, queueName: string, prefix = 'gw:jobs'): QueueKit {
  const address = redisAddress(url, 'REDIS_QUEUE_URL');
  if (address.cluster !== undefined) return clusterKit(address, queueName, prefix);
  const { Queue, Worker } = withBackend(createRedisBackend);
  const Paced = pausingWorker(Worker as never);
  const version = new VersionCheck();
  RedisConnection.clientFactory = createClient;
  const always = {
    ...address,
    ...quietHandshake,
    enableReadyCheck: address.sentinels !== undefined,
    retryStrategy: redisRetryDelay,
  };
  return {
    backend: 'redis',
    queue() {
      const connection = { ...always, maxRetriesPerRequest: 1, enableOfflineQueue: false };
      return version.watch(new Queue(queueName, { connection, prefix, ...version.options }) as unknown as KitQueue);
    },
    worker(process) {
      const connection = { ...always, maxRetriesPerRequest: null };
      const options = { connection, prefix, ...workerOptions, ...version.options };
      return new Paced(queueName, process, options) as unknown as KitWorker;
    },
  };
}

/** Same as BullMQ's own function, except for the class. */
function createClient({ url, ...given }: RedisOptions & { readonly url?: string }): IRedisClient {
  const options = given as Omit<RedisOptions, 'replyMapping'>;
  return createIORedisClient(url === undefined ? new SelectingRedis(options) : new SelectingRedis(url, options));
}

/** BullMQ reads the version with INFO, and fails if that is not permitted; the next queue then skips it, and delays are whole seconds. */
class VersionCheck {
  options: { readonly skipVersionCheck?: true } = {};

  watch(queue: KitQueue): KitQueue {
    queue.on('error', ({ message }) => {
      if (/\binfo\b/i.test(message)) this.options = { skipVersionCheck: true };
    });
    return queue;
  }
}

/** BullMQ's scripts use many keys; the braces in the prefix keep the whole queue on one node. */
function clusterKit(address: RedisAddress, queueName: string, plainPrefix: string): QueueKit {
  const { Queue, Worker } = withBackend(createRedisBackend);
  const Paced = pausingWorker(Worker as never);
  const prefix = plainPrefix.replace(/[^:]+$/, '{$&}');
  const version = new VersionCheck();
  const connect = () =>
    createCluster(address, {
      lazyConnect: true,
      clusterRetryStrategy: redisRetryDelay,
      redisOptions: { maxRetriesPerRequest: null },
    });
  return {
    backend: 'redis',
    queue() {
      const connection = connect();
      const queue = new Queue(queueName, { connection, prefix, ...version.options });
      return closingConnection(version.watch(queue as unknown as KitQueue), connection);
    },
    worker(process) {
      const connection = connect();
      const worker = new Paced(queueName, process, { connection, prefix, ...workerOptions, ...version.options });
      return closingConnection(worker as unknown as KitWorker, connection);
    },
  };
}

/** Closes the connection with the part, because BullMQ closes only connections that it opened itself. */
function closingConnection<Part extends KitQueue | KitWorker>(part: Part, connection: Cluster): Part {
  const close = part.close.bind(part);
  part.close = () => close().finally(() => connection.disconnect());
  return part;
}

/** A job lost with its process runs again, up to five times; by contract, jobs may run twice. */
const workerOptions = { autorun: false, concurrency: 4, maxStalledCount: 5 };

const retriesMs = { min: 100, max: 5_000 };

/**
 * A worker that backs off after failing to fetch a job. BullMQ pauses only after ECONNREFUSED and retries immediately after any other
 * failure: it would poll a starting PostgreSQL in a busy loop, and a connection that never became ready fails without any I/O, which would
 * block the event loop.
 */
function pausingWorker(Base: typeof Worker): typeof Worker {
  return class PacedWorker extends Base {
    readonly #backoff = new Backoff(retriesMs);
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
  } as typeof Worker;
}

const failures = { max: 100, age: 24 * 3_600_000 };

export async function readQueueState(queue: KitQueue): Promise<QueueState> {
  const [counts, waiting, failed] = await Promise.all([
    queue.getJobCounts('wait', 'active', 'prioritized'),
    queue.getWaiting(0, 0),
    queue.getFailed(0, failures.max - 1),
  ]);
  const now = Date.now();
  const recent = failed.map(describe).filter(({ failedAt }) => now - failedAt < failures.age);
  return {
    waiting: (counts['wait'] ?? 0) + (counts['prioritized'] ?? 0),
    running: counts['active'] ?? 0,
    longestWait: Math.max(0, ...waiting.map((job) => now - dueAt(job))),
    failed: recent.sort((a, b) => b.failedAt - a.failedAt),
  };
}

function describe({ name, failedReason, finishedOn, timestamp }: Job): FailedJob {
  return { name, reason: failedReason, failedAt: finishedOn ?? timestamp };
}

function dueAt({ timestamp, delay }: Job): number {
  return timestamp + delay;
}
