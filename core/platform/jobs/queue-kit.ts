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

/** The part of BullMQ that is used, the same on both of its stores. */
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
  /** @param end of the range, inclusive; negative counts from the last one */
  getWaiting(start: number, end: number): Promise<Job[]>;
  getFailed(start: number, end: number): Promise<Job[]>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  close(): Promise<void>;
}

export interface KitScheduler {
  readonly key: string;
  /** Epoch ms of the run that is planned. */
  readonly next?: number | undefined;
}

export interface KitWorker {
  /** Rejects when the store cannot be reached; the worker is of no use then. */
  waitUntilReady(): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** The store has answered a request for a job, with one or without. */
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

/** Settings of the pool that BullMQ opens. */
export function jobsPool(connectionString: string) {
  return {
    connectionString,
    // As many as jobs run at once, and two for the worker's looks at the queue: jobs that all fall due at a full minute waited.
    max: workerOptions.concurrency + 2,
    connectionTimeoutMillis: 5_000,
    application_name: 'daypass-jobs',
    Client: JobsClient,
  } satisfies pg.PoolConfig;
}

/**
 * BullMQ takes clients from its pool without an `error` listener, and removes all listeners of the one that listens before it
 * ends it: a connection that broke at such a moment would end the process. The next query still fails, and is retried.
 */
class JobsClient extends pg.Client {
  readonly #settings: SessionSettings;

  constructor(config?: string | pg.ClientConfig) {
    const { options = '', ...given } = typeof config === 'string' ? { connectionString: config } : { ...config };
    super(given);
    // BullMQ pins its schema by `options`, which those of a URL would replace, and PgBouncer refuses.
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

/** BullMQ takes the listening client from this module and not from the pool's settings. */
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

/** Same as BullMQ's own, except for the class. */
function createClient({ url, ...given }: RedisOptions & { readonly url?: string }): IRedisClient {
  const options = given as Omit<RedisOptions, 'replyMapping'>;
  return createIORedisClient(url === undefined ? new SelectingRedis(options) : new SelectingRedis(url, options));
}

/** BullMQ reads the version with INFO and fails where that is refused; the next queue then skips it, and delays are whole seconds. */
class VersionCheck {
  options: { readonly skipVersionCheck?: true } = {};

  watch(queue: KitQueue): KitQueue {
    queue.on('error', ({ message }) => {
      if (/\binfo\b/i.test(message)) this.options = { skipVersionCheck: true };
    });
    return queue;
  }
}

/** BullMQ's scripts take many keys: the braces keep the whole queue on one node. */
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
      return owning(version.watch(queue as unknown as KitQueue), connection);
    },
    worker(process) {
      const connection = connect();
      const worker = new Paced(queueName, process, { connection, prefix, ...workerOptions, ...version.options });
      return owning(worker as unknown as KitWorker, connection);
    },
  };
}

/** BullMQ closes only connections that it opened itself. */
function owning<Part extends KitQueue | KitWorker>(part: Part, connection: Cluster): Part {
  const close = part.close.bind(part);
  part.close = () => close().finally(() => connection.disconnect());
  return part;
}

/** A job that is lost with its process runs again, up to five times: by contract jobs may run twice. */
const workerOptions = { autorun: false, concurrency: 4, maxStalledCount: 5 };

const retriesMs = { first: 100, longest: 5_000 };

/**
 * A worker that pauses after a failure to fetch a job. BullMQ pauses only after ECONNREFUSED and asks again at once after
 * any other failure: "the database system is starting up" would be asked in a busy loop, and a connection that never
 * became ready fails without any I/O, so that the event loop would not turn any more.
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

const failures = { most: 100, age: 24 * 3_600_000 };

export async function readQueueState(queue: KitQueue): Promise<QueueState> {
  const [counts, waiting, failed] = await Promise.all([
    queue.getJobCounts('wait', 'active', 'prioritized'),
    queue.getWaiting(0, 0),
    queue.getFailed(0, failures.most - 1),
  ]);
  const now = Date.now();
  const recent = failed.map(describe).filter(({ failedAt }) => now - failedAt < failures.age);
  return {
    waiting: (counts['wait'] ?? 0) + (counts['prioritized'] ?? 0),
    running: counts['active'] ?? 0,
    longestWait: Math.max(0, ...waiting.map((job) => now - dueAt(job))),
    failed: recent.sort((one, other) => other.failedAt - one.failedAt),
  };
}

function describe({ name, failedReason, finishedOn, timestamp }: Job): FailedJob {
  return { name, reason: failedReason, failedAt: finishedOn ?? timestamp };
}

function dueAt({ timestamp, delay }: Job): number {
  return timestamp + delay;
}
