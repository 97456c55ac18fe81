import type { JsonObject } from '../json.ts';

/** BullMQ on Redis when there is Redis, on PostgreSQL otherwise. */
export interface Jobs extends AsyncDisposable {
  readonly backend: 'postgres' | 'redis';
  /**
   * Enqueues a job. Not part of any transaction of yours.
   *
   * @param options.id same id, same job, while its record exists; no colon
   * @param options.delay seconds
   * @throws when the queue does not answer within two seconds
   */
  add(name: string, data: JsonObject, options?: { id?: string; delay?: number }): Promise<void>;
}

/** Throw it from `run` to say that trying again is useless. */
export class JobImpossible extends Error {
  override readonly name = 'JobImpossible';
}
