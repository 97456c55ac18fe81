import type { JsonObject } from '../json.ts';

/** Job queue: BullMQ on Redis if configured, otherwise on PostgreSQL. */
export interface Jobs extends AsyncDisposable {
  readonly backend: 'postgres' | 'redis';
  /**
   * Enqueues a job outside the caller's transaction.
   *
   * @param options.id while a job with this id is stored, no other one is added; must not contain a colon
   * @param options.delay seconds
   * @throws Error if the queue does not respond within two seconds
   */
  add(name: string, data: JsonObject, options?: { id?: string; delay?: number }): Promise<void>;
  /** @throws Error if the queue does not respond within two seconds */
  state(): Promise<QueueState>;
  readonly schedules: ScheduleState;
  /** Failure of the queue as seen by this process; undefined while it works, or if this process only adds jobs. */
  readonly failure?: QueueFailure | undefined;
}

export interface QueueFailure {
  readonly reason: string;
  readonly since: number; // performance.now()
}

/** State of repeated jobs as seen by this process. */
export interface ScheduleState {
  /** Jobs that keep missing their schedules although they were rescheduled: start (epoch ms) by name. */
  readonly lateSince: ReadonlyMap<string, number>;
  readonly rescheduleCount: number;
}

export const maxListedFailedJobs = 100;

export interface QueueState {
  /** Jobs that are due and wait for a worker. */
  readonly waiting: number;
  readonly running: number;
  /** How long the oldest waiting job has been due, in ms. */
  readonly oldestWaitMs: number;
  /** Jobs that failed permanently in the last 24 hours, newest first; at most `maxReadFailures`. */
  readonly failed: readonly FailedJob[];
}

export interface FailedJob {
  readonly name: string;
  readonly reason: string;
  readonly failedAt: number; // epoch ms
}

/** Thrown by `Job.run` if a retry is useless. */
export class UnrecoverableJobError extends Error {
  override readonly name = 'UnrecoverableJobError';
}
