import type { JsonObject } from '../json.ts';

/** BullMQ on Redis when there is Redis, on PostgreSQL otherwise. */
export interface Jobs extends AsyncDisposable {
  readonly backend: 'postgres' | 'redis';
  /**
   * Enqueues a job. Not part of the caller's transaction.
   *
   * @param options.id same id, same job, while its record exists; no colon
   * @param options.delay seconds
   * @throws Error when the queue does not respond within two seconds
   */
  add(name: string, data: JsonObject, options?: { id?: string; delay?: number }): Promise<void>;
  /** @throws Error when the queue does not respond within two seconds */
  state(): Promise<QueueState>;
  readonly schedules: ScheduleState;
  /** Of the queue as this process sees it, since it last worked; undefined while it works, and where it is only added to. */
  readonly failure?: QueueFailure | undefined;
}

export interface QueueFailure {
  readonly reason: string;
  readonly since: number; // ms of performance.now()
}

/** State of repeated jobs as seen by this process. */
export interface ScheduleState {
  /** Start (epoch ms) of the time in which jobs miss their schedules, although they were scheduled anew. */
  readonly late: ReadonlyMap<string, number>;
  /** Number of times that this process has scheduled a job anew. */
  readonly rescheduled: number;
}

/** State of the queue, for operators. */
export interface QueueState {
  /** Jobs that could run, and wait for a worker. */
  readonly waiting: number;
  readonly running: number;
  /** Ms that the oldest waiting job has waited. */
  readonly longestWait: number;
  /** Jobs that failed permanently in the last 24 hours, newest first; at most 100. */
  readonly failed: readonly FailedJob[];
}

export interface FailedJob {
  readonly name: string;
  readonly reason: string;
  readonly failedAt: number; // epoch ms
}

/** Thrown by `run` when a retry is useless. */
export class UnrecoverableJobError extends Error {
  override readonly name = 'UnrecoverableJobError';
}
