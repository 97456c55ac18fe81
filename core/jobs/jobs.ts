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
}

/** Thrown by `run` when a retry is useless. */
export class JobImpossible extends Error {
  override readonly name = 'JobImpossible';
}
