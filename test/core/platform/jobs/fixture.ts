import { vi } from 'vitest';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import type { Jobs } from '#core/platform/jobs/jobs.ts';
import { openJobs, type OpenJobsOptions } from '#core/platform/jobs/open.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { silentLog } from '../../../support/database.ts';

interface PlaceOptions extends Partial<OpenJobsOptions> {
  /** Left out: true. */
  readonly isWorking?: boolean;
}

/** Where jobs lie, and a way to open what lies there; each test has jobs of its own. */
export interface Place extends AsyncDisposable {
  /** Removes everything that is in the store. */
  wipe(): Promise<void>;
  open(definitions: readonly JobDefinition[], options?: PlaceOptions): Promise<Jobs>;
}

export const host = { instance: 'of the test' } as Host;
export const attention = { description: 'of a test' };
export const anyData = { type: 'object', properties: {} } as const;
/** For the queue and PostgreSQL, which report no event, on a busy machine. */
export const patience = { timeout: 15_000 };

export function openerOf(places: Partial<OpenJobsOptions>): Place['open'] {
  return async (definitions, { isWorking = true, ...options } = {}) => {
    const jobs = openJobs({
      databaseUrl: 'postgres://unused.invalid/none',
      redisUrl: undefined,
      definitions: new Map(definitions.map((definition) => [definition.name, definition])),
      host: () => host,
      log: silentLog,
      ...places,
      ...options,
    });
    if (isWorking) jobs.work();
    return jobs;
  };
}

/** Opens a queue that is up: BullMQ creates its tables first, which may take longer than a job may be kept waiting. */
export function readyOpenerOf(places: Partial<OpenJobsOptions>): Place['open'] {
  const open = openerOf(places);
  return async (...given) => {
    const jobs = await open(...given);
    await vi.waitFor(() => jobs.state(), patience);
    return jobs;
  };
}

/** A job that a test can watch. */
export function watched(
  name: string,
  run: (data: JsonObject, times: number) => unknown,
  more: Partial<JobDefinition> = {},
) {
  const runs: JsonObject[] = [];
  const definition: JobDefinition = {
    ...attention,
    name,
    data: anyData,
    backoff: 0.01,
    ...more,
    async run(data) {
      runs.push(data);
      await run(data, runs.length);
    },
  };
  return { definition, runs };
}

/** Runs after everything that was added before it has begun. */
export function createMarker() {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  return { reached, definition: watched('marker', () => resolve()).definition };
}
