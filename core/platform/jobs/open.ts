import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Ajv } from 'ajv';
import { type Job as QueuedJob, type JobsOptions, UnrecoverableError } from 'bullmq';
import { logFailure } from '../errors/connection-error.ts';
import type { JsonObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import { retryUntilDone } from '../timing/backoff.ts';
import { withDeadline } from '../timing/deadline.ts';
import type { Job } from './job.ts';
import { UnrecoverableJobError, type Jobs, type QueueFailure, type QueueState } from './jobs.ts';
import {
  type BullQueue,
  type BullWorker,
  createPostgresFactory,
  type QueueFactory,
  createRedisFactory,
  readQueueState,
} from './queue-factory.ts';
import { QueueFailures } from './queue-failures.ts';
import { Schedules, findNextTimes } from './schedules.ts';

export interface OpenJobsOptions<Context = unknown> {
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  readonly definitions: ReadonlyMap<string, Job<Context>>;
  readonly host: () => Context; // context of a run
  readonly log: Logger;
  readonly prefix?: string; // of the queue's keys in Redis; gateways that share a Redis but not their jobs need different ones
  readonly restoreEveryMs?: number; // checks for schedules that the store has lost, as after a flush of Redis; default: a minute
}

export interface JobQueue extends Jobs {
  /**
   * Applies the schedules and starts working in the background once the queue is up, while requests are already served. Call it when the
   * jobs' context exists.
   */
  work(): void;
}

/** `jobs`: how long running jobs may take when the queue is closed. `close`: how long the store may then take to record their outcomes. */
const timeoutsMs = { add: 2_000, schedule: 10_000, worker: 10_000, jobs: 10_000, close: 2_000 };
const defaultRestoreMs = 60_000;
const retention: JobsOptions = {
  removeOnComplete: { age: 86_400, count: 1_000 },
  removeOnFail: { age: 7 * 86_400, count: 1_000 },
};
const ajv = new Ajv({ strict: true });

/**
 * Opens the queue. Jobs can be added immediately.
 *
 * @throws Error for an invalid cron pattern, which would prevent all jobs from being scheduled
 */
export function openJobs<Context>(options: OpenJobsOptions<Context>): JobQueue {
  for (const definition of options.definitions.values()) checkPattern(definition);
  const queue = createQueueName(options.definitions.values());
  const factory =
    options.redisUrl === undefined
      ? createPostgresFactory(options.databaseUrl, queue)
      : createRedisFactory(options.redisUrl, queue, options.prefix);
  return new QueueJobs(factory, options);
}

/**
 * Creates the name of the queue that is shared by processes with the same job definitions. During an upgrade, or if instances have different
 * plugins, a process would fail jobs that it does not define, or whose data has a different schema.
 */
function createQueueName(definitions: Iterable<Job<never>>): string {
  const contract = [...definitions]
    .map(({ name, schedule, data }) => JSON.stringify([name, schedule, data]))
    .toSorted();
  return `gateway-${createHash('sha256').update(contract.join()).digest('hex').slice(0, 12)}`;
}

function checkPattern({ name, schedule }: Job<never>): void {
  if (schedule === undefined || !('pattern' in schedule)) return;
  try {
    findNextTimes(schedule.pattern);
  } catch (error) {
    throw new Error(`job "${name}": the cron pattern "${schedule.pattern}" is not valid`, { cause: error });
  }
}

class QueueJobs<Context> implements JobQueue {
  readonly backend: Jobs['backend'];
  readonly schedules: Schedules;
  readonly #options: OpenJobsOptions<Context>;
  readonly #factory: QueueFactory;
  readonly #failures: QueueFailures;
  readonly #recordFailure: (error: Error) => void;
  #queue: BullQueue | undefined;
  readonly #callCounts = new WeakMap<BullQueue, number>(); // closing a queue would leave its calls pending until their deadlines
  #worker: BullWorker | undefined;
  #startPromise: Promise<void> | undefined;
  readonly #runningJobs = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #restoreTimer: NodeJS.Timeout | undefined;

  constructor(factory: QueueFactory, options: OpenJobsOptions<Context>) {
    this.backend = factory.backend;
    this.#factory = factory;
    this.#options = options;
    this.schedules = new Schedules({ definitions: options.definitions.values(), createOptions, log: options.log });
    this.#failures = new QueueFailures(options.log);
    this.#recordFailure = (error) => {
      // Connections also report errors while they are being closed, when no caller waits.
      if (!this.#closing.signal.aborted) this.#failures.record(error);
    };
  }

  get failure(): QueueFailure | undefined {
    return this.#failures.current;
  }

  work(): void {
    const { signal } = this.#closing;
    this.#startPromise = retryUntilDone(() => this.#startWorking(signal), {
      signal,
      onFailure: (error) => this.#recordFailure(toError(error)),
    });
  }

  async #startWorking(signal: AbortSignal): Promise<void> {
    await this.#withQueue(timeoutsMs.schedule, (queue) => this.schedules.apply(queue), signal);
    const worker = this.#openWorker();
    try {
      await withDeadline(worker.waitUntilReady(), timeoutsMs.worker, timeoutMessage(timeoutsMs.worker), signal);
    } catch (error) {
      // A worker whose first connection failed never recovers. The next attempt opens a new worker.
      worker.close().catch(() => undefined);
      throw error;
    }
    this.#worker = worker;
    worker.run().catch(this.#recordFailure);
    this.#restoreTimer = setInterval(() => {
      this.#withQueue(timeoutsMs.schedule, (queue) => this.schedules.restore(queue, signal)).catch((error: unknown) => {
        this.schedules.forgetRuns();
        this.#recordFailure(toError(error));
      });
    }, this.#options.restoreEveryMs ?? defaultRestoreMs).unref();
  }

  #openWorker(): BullWorker {
    const worker = this.#factory.openWorker((job) => {
      const run = this.#run(job).finally(() => this.#runningJobs.delete(run));
      this.#runningJobs.add(run);
      return run;
    });
    worker.on('error', this.#recordFailure);
    worker.on('fetched', () => this.#failures.clear());
    worker.on('failed', (job, error) => {
      const attempt = `attempt ${job?.attemptsMade ?? 0} of ${job?.opts.attempts ?? 1}`;
      logFailure(this.#options.log, `job ${job?.name ?? 'unknown'} failed (${attempt})`, error);
    });
    return worker;
  }

  async add(
    name: string,
    data: JsonObject,
    { id, delay: delaySeconds }: { id?: string; delay?: number } = {},
  ): Promise<void> {
    const definition = this.#requireDefinition(name);
    checkData(definition, data);
    const options: JobsOptions = {
      ...createOptions(definition),
      ...(id !== undefined && { jobId: id }),
      // PostgreSQL rejects fractions of a millisecond. Rounded up, so that the job is not early.
      ...(delaySeconds !== undefined && { delay: Math.ceil(delaySeconds * 1000) }),
    };
    await this.#withQueue(timeoutsMs.add, (queue) => queue.add(name, data, options)).catch((error: unknown) => {
      // Recorded here, because callers whose job is only an optimization ignore the error.
      this.#recordFailure(toError(error));
      throw error;
    });
  }

  async state(): Promise<QueueState> {
    return this.#withQueue(timeoutsMs.add, readQueueState);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#restoreTimer);
    await this.#startPromise;
    const { jobs, close } = timeoutsMs;
    const workerClosed = this.#worker?.close() ?? Promise.resolve();
    const isClosed = Promise.race([workerClosed.then(() => true), this.#waitForJobs().then(() => false)]);
    // Not awaited: a job that never ends must not keep the process alive. A job whose outcome is not stored runs again.
    if (!(await withDeadline(isClosed, jobs, timeoutMessage(jobs)).catch(() => false)))
      this.#worker?.disconnect().catch(this.#recordFailure);
    await withDeadline(this.#queue?.close() ?? Promise.resolve(), close, timeoutMessage(close)).catch(
      this.#recordFailure,
    );
  }

  /** Waits for running jobs, then for the store: while it is unreachable, a worker without jobs does not close either. */
  async #waitForJobs(): Promise<void> {
    do {
      await Promise.allSettled(this.#runningJobs);
      await delay(timeoutsMs.close, undefined, { ref: false });
    } while (this.#runningJobs.size > 0);
  }

  /** Work that has not started in time is dropped, because its caller has already failed. */
  async #withQueue<T>(timeoutMs: number, work: (queue: BullQueue) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const queue = this.#openQueue();
    this.#callCounts.set(queue, (this.#callCounts.get(queue) ?? 0) + 1);
    let isLate = false;
    const run = async () => {
      try {
        await queue.waitUntilReady();
        if (isLate) throw new Error('the job queue responded too late');
        return await work(queue);
      } catch (error) {
        // A queue whose first connection failed never recovers. The next caller opens a new queue.
        if (this.#queue === queue && !isLate) this.#queue = undefined;
        throw error;
      }
    };
    try {
      return await withDeadline(run(), timeoutMs, timeoutMessage(timeoutMs), signal);
    } finally {
      isLate = true;
      this.#release(queue);
    }
  }

  #release(queue: BullQueue): void {
    const remainingCalls = (this.#callCounts.get(queue) ?? 1) - 1;
    this.#callCounts.set(queue, remainingCalls);
    if (remainingCalls === 0 && this.#queue !== queue) queue.close().catch(() => undefined);
  }

  #openQueue(): BullQueue {
    if (this.#queue === undefined) {
      this.#queue = this.#factory.openQueue();
      this.#queue.on('error', this.#recordFailure);
    }
    return this.#queue;
  }

  #requireDefinition(name: string): Job<Context> {
    const definition = this.#options.definitions.get(name);
    if (definition === undefined) throw new Error(`Job "${name}" not found`);
    return definition;
  }

  async #run(job: QueuedJob): Promise<void> {
    const definition = this.#options.definitions.get(job.name);
    if (definition === undefined) throw new UnrecoverableError(`Job "${job.name}" not found`);
    try {
      const data = job.data as JsonObject;
      checkData(definition, data);
      await definition.run(data, this.#options.host());
    } catch (error) {
      if (error instanceof UnrecoverableJobError) throw new UnrecoverableError(error.message);
      throw error;
    }
  }
}

function createOptions({ attempts = 5, backoff = 2 }: Job<never>): JobsOptions {
  return { ...retention, attempts, backoff: { type: 'exponential', delay: backoff * 1000, jitter: 0.3 } };
}

function checkData({ name, data: schema }: Job<never>, data: JsonObject): void {
  if (schema === undefined || ajv.validate(schema, data)) return;
  throw new UnrecoverableJobError(`job ${name}: ${ajv.errorsText(ajv.errors)}`);
}

function timeoutMessage(timeoutMs: number): string {
  return `the job queue did not respond within ${timeoutMs} ms`;
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
