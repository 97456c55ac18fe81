import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { UnrecoverableJobError } from '#core/platform/jobs/jobs.ts';
import { createTestDatabase, silentLog } from '../../../support/database.ts';
import { redisUrl } from '../../../support/redis.ts';
import { anyData, attention, createMarker, host, patience, type Place, readyOpenerOf, watched } from './fixture.ts';

async function placeInPostgres(): Promise<Place> {
  const own = await createTestDatabase();
  return {
    open: readyOpenerOf({ databaseUrl: own.url }),
    async wipe() {
      const tables = await own.query<{ name: string }>(
        "select tablename as name from pg_tables where schemaname = 'bullmq' and tablename not in ('migration', 'meta')",
      );
      await own.query(`truncate ${tables.map(({ name }) => `bullmq.${name}`).join(', ')}`);
    },
    [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
  };
}

async function placeInRedis(): Promise<Place> {
  const prefix = `test:${randomUUID()}`;
  const wipe = async () => {
    const client = new Redis(redisUrl ?? '');
    const keys = await client.keys(`${prefix}*`);
    if (keys.length > 0) await client.del(...keys);
    client.disconnect();
  };
  return { open: readyOpenerOf({ redisUrl, prefix }), wipe, [Symbol.asyncDispose]: wipe };
}

if (redisUrl === undefined)
  console.warn('!! the Redis half of test/core/platform/jobs DOES NOT RUN: there is no Redis !!');

/** Seconds of the wall clock. */
const secondNow = () => Math.floor(Date.now() / 1000);

/** A wall clock that a test sets: the queue reads it. */
function shiftClock(): { step: number } & Disposable {
  const now = Date.now.bind(Date);
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => now() + clock.step);
  const clock = { step: 0, [Symbol.dispose]: () => spy.mockRestore() };
  return clock;
}

describe.each([
  { backend: 'postgres', isMissing: false, create: placeInPostgres },
  { backend: 'redis', isMissing: redisUrl === undefined, create: placeInRedis },
] as const)('jobs in $backend', ({ backend, isMissing, create }) => {
  const run = it.skipIf(isMissing);

  run('jobs run with their data and the host', async () => {
    await using place = await create();
    const ran = Promise.withResolvers<unknown[]>();
    const definition: JobDefinition = {
      ...attention,
      name: 'greet',
      data: anyData,
      run: async (...parameters) => ran.resolve(parameters),
    };
    await using jobs = await place.open([definition]);
    expect(jobs.backend).toBe(backend);
    await jobs.add('greet', { name: 'é "?', list: [1, null] });
    expect(await ran.promise).toEqual([{ name: 'é "?', list: [1, null] }, host]);
  });

  run('jobs are reported with what waits and what was given up', async () => {
    await using place = await create();
    const failed = Promise.withResolvers<void>();
    const { definition } = watched(
      'fails',
      () => {
        throw new Error('the disk is full');
      },
      { attempts: 1 },
    );
    const error = () => failed.resolve();
    await using waiting = await place.open([definition], { isWorking: false });
    await waiting.add('fails', {});
    expect(await waiting.state()).toMatchObject({ waiting: 1, running: 0, failed: [] });
    await using working = await place.open([definition], { log: { ...silentLog, error } });
    await failed.promise;
    await vi.waitFor(async () => {
      const state = await working.state();
      expect(state).toMatchObject({ waiting: 0, failed: [{ name: 'fails', reason: 'the disk is full' }] });
      expect(Date.now() - (state.failed[0]?.failedAt ?? 0)).toBeLessThan(60_000);
    }, patience);
  });

  run('jobs wait for a process that runs them', async () => {
    await using place = await create();
    const ran = Promise.withResolvers<void>();
    const { definition } = watched('later', () => ran.resolve());
    const tooEarly = vi.fn(() => host);
    await using adding = await place.open([definition], { isWorking: false, host: tooEarly });
    await adding.add('later', {});
    await using _running = await place.open([definition]);
    await ran.promise;
    expect(tooEarly).not.toHaveBeenCalled();
  });

  run('jobs run by their schedule, again and again', async () => {
    await using place = await create();
    const twice = Promise.withResolvers<void>();
    const { definition } = watched('tick', (_data, times) => times === 2 && twice.resolve(), {
      schedule: { every: 0.05 },
    });
    await using _jobs = await place.open([definition]);
    await twice.promise;
  });

  run('jobs are scheduled again after the store has lost everything', async () => {
    await using place = await create();
    const [before, after] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isWiped = false;
    const { definition } = watched('tick', () => (isWiped ? after : before).resolve(), { schedule: { every: 0.3 } });
    await using _jobs = await place.open([definition], { restoreEveryMs: 200 });
    await before.promise;
    await place.wipe();
    isWiped = true;
    await after.promise;
  });

  run.each([-3_600_000, -30 * 86_400_000])('jobs go on after the clock was set back by %i ms', async (step) => {
    await using place = await create();
    using clock = shiftClock();
    const [before, after] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let runsAfter = 0;
    const warn = vi.fn<(message: string) => void>();
    const { definition } = watched(
      'tick',
      () => {
        if (clock.step === 0) return before.resolve();
        if (++runsAfter === 3) after.resolve();
      },
      { schedule: { every: 0.3 } },
    );
    await using jobs = await place.open([definition], { restoreEveryMs: 200, log: { ...silentLog, warn } });
    await before.promise;
    clock.step = step;
    await after.promise;
    expect(warn.mock.calls.join()).toContain('missed 2 of their periods and are rescheduled: tick.');
    expect(jobs.schedules.rescheduleCount).toBeGreaterThan(0);
    await vi.waitFor(() => expect(jobs.schedules.lateSince.size).toBe(0), patience);
  });

  run('jobs go on when the gateway is started after the clock was set back', async () => {
    await using place = await create();
    using clock = shiftClock();
    const [before, after] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { definition } = watched('tick', () => (clock.step === 0 ? before : after).resolve(), {
      schedule: { every: 0.3 },
    });
    {
      await using _jobs = await place.open([definition]);
      await before.promise;
    }
    clock.step = -86_400_000;
    await using _again = await place.open([definition]);
    await after.promise;
  });

  run('jobs with a cron pattern go on after the clock was set back to times at which they ran', async () => {
    await using place = await create();
    using clock = shiftClock();
    const [before, after] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let runsAfter = 0;
    const { definition, runs } = watched(
      'tick',
      () => {
        if (clock.step === 0 && runs.length === 3) before.resolve();
        if (clock.step !== 0 && ++runsAfter === 3) after.resolve();
      },
      { schedule: { pattern: '* * * * * *' } },
    );
    await using _jobs = await place.open([definition], { restoreEveryMs: 300 });
    await before.promise;
    clock.step = -4_000;
    await after.promise;
  });

  run('jobs with a cron pattern go on after the clock was set back to times at which they failed', async () => {
    await using place = await create();
    using clock = shiftClock();
    const [before, after] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const failed = new Set<number>();
    let isBack = false;
    const { definition } = watched(
      'tick',
      (_data, times) => {
        // Not the run that was planned when the clock was set back: it is no time at which one has failed.
        if (isBack) return times > 31 && failed.has(secondNow()) && after.resolve();
        failed.add(secondNow());
        // To shortly before the next second.
        clock.step += 1_900 - (Date.now() % 1_000);
        if (failed.size === 30) before.resolve();
        throw new Error('on purpose');
      },
      { schedule: { pattern: '* * * * * *' }, attempts: 1 },
    );
    await using jobs = await place.open([definition], { restoreEveryMs: 300 });
    await before.promise;
    isBack = true;
    clock.step = 0;
    await after.promise;
    // Those that are not in the way are still reported.
    expect((await jobs.state()).failed).not.toEqual([]);
  });

  run('jobs that missed thousands of runs, because the clock was set forward, run once for all of them', async () => {
    await using place = await create();
    using clock = shiftClock();
    const [before, after] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const times: number[] = [];
    const { definition } = watched(
      'tick',
      () => {
        if (clock.step === 0) return before.resolve();
        if (times.push(performance.now()) === 6) after.resolve();
      },
      { schedule: { every: 0.2 } },
    );
    await using _jobs = await place.open([definition], { restoreEveryMs: 200 });
    await before.promise;
    clock.step = 86_400_000;
    await after.promise;
    // One for those it missed, one for the time until the next full period, and four whole periods.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(3 * 190);
  });

  run(
    'jobs with long periods are no longer late once they are scheduled anew, though their next run is far off',
    async () => {
      await using place = await create();
      using clock = shiftClock();
      const names = ['hourly', 'hourly-too'];
      const all = names.map((name) => watched(name, () => undefined, { schedule: { every: 3600 } }));
      const daily = watched('daily', () => undefined, { schedule: { pattern: '17 3 * * *' } });
      clock.step = 5 * 86_400_000;
      const definitions = [...all, daily].map(({ definition }) => definition);
      await using jobs = await place.open(definitions, { restoreEveryMs: 200 });
      await vi.waitFor(() => expect(all.every(({ runs }) => runs.length > 0)).toBe(true), patience);
      clock.step = 0;
      await vi.waitFor(() => expect(jobs.schedules.rescheduleCount).toBe(3), patience);
      await vi.waitFor(() => expect(all.every(({ runs }) => runs.length > 1)).toBe(true), patience);
      await vi.waitFor(() => expect([...jobs.schedules.lateSince.keys()]).toEqual([]), patience);
      expect(jobs.schedules.rescheduleCount).toBe(3);
    },
  );

  run('jobs that are not fetched, because nobody works, are reported as late', async () => {
    await using place = await create();
    const began = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    // Four jobs that do not end occupy the worker.
    const endless = watched('endless', (_data, times) => {
      if (times === 4) began.resolve();
      return gate.promise;
    });
    const tick = watched('tick', () => undefined, { schedule: { every: 0.2 } });
    await using jobs = await place.open([endless.definition, tick.definition], { restoreEveryMs: 200 });
    for (let count = 0; count < 4; count++) await jobs.add('endless', {});
    await began.promise;
    const began2 = Date.now();
    await vi.waitFor(() => expect([...jobs.schedules.lateSince.keys()]).toEqual(['tick']), patience);
    expect(Math.abs((jobs.schedules.lateSince.get('tick') ?? 0) - began2)).toBeLessThan(60_000);
    gate.resolve();
    await vi.waitFor(() => expect(jobs.schedules.lateSince.size).toBe(0), patience);
  });

  run(
    'jobs are left alone by a version that does not know them, or gives them at other times or other data',
    async () => {
      await using place = await create();
      const warn = vi.fn<(message: string) => void>();
      const log = { ...silentLog, warn, error: warn };
      const others = [
        [watched('other', () => undefined, { schedule: { every: 0.05 } }).definition],
        [watched('tick', () => undefined, { schedule: { every: 3600 } }).definition],
        [watched('tick', () => undefined, { schedule: { every: 0.05 }, data: { type: 'object' } }).definition],
      ];
      const ran = Promise.withResolvers<void>();
      const { definition } = watched('tick', (_data, times) => times === 40 && ran.resolve(), {
        schedule: { every: 0.05 },
      });
      await using _first = await place.open([definition], { log });
      await using running = new AsyncDisposableStack();
      for (const definitions of others) running.use(await place.open(definitions, { log }));
      await ran.promise;
      expect(warn).not.toHaveBeenCalled();
    },
  );

  run('jobs are run by a version that has the same jobs, in whatever order', async () => {
    await using place = await create();
    const ran = Promise.withResolvers<void>();
    const [one, two] = [watched('one', () => ran.resolve()), watched('two', () => undefined)];
    await using adding = await place.open([one.definition, two.definition], { isWorking: false });
    await adding.add('one', {});
    await using _running = await place.open([two.definition, one.definition]);
    await ran.promise;
  });

  run('jobs are retried until they succeed', async () => {
    await using place = await create();
    const succeeded = Promise.withResolvers<void>();
    const error = vi.fn<(message: string, error?: unknown) => void>();
    const { definition, runs } = watched('flaky', (_data, times) => {
      if (times < 3) throw new Error(`try ${times}`);
      succeeded.resolve();
    });
    await using jobs = await place.open([definition], { log: { ...silentLog, error } });
    await jobs.add('flaky', { same: true });
    await succeeded.promise;
    expect(runs).toEqual([{ same: true }, { same: true }, { same: true }]);
    // The next try may begin, and even end, before the last one has been told of.
    await vi.waitFor(
      () =>
        expect(error.mock.calls.map(([message]) => message).toSorted()).toEqual([
          'job flaky failed (attempt 1 of 5)',
          'job flaky failed (attempt 2 of 5)',
        ]),
      patience,
    );
  });

  run('jobs wait for the seconds of their backoff before the second attempt', async () => {
    await using place = await create();
    const times: number[] = [];
    const retried = Promise.withResolvers<void>();
    const { definition } = watched(
      'patient',
      (_data, count) => {
        times.push(Date.now());
        if (count === 1) throw new Error('first');
        retried.resolve();
      },
      { backoff: 0.5 },
    );
    await using jobs = await place.open([definition]);
    await jobs.add('patient', {});
    await retried.promise;
    const [first = 0, second = 0] = times;
    // Jitter takes up to 30 %. The queue counts whole ms of this clock.
    expect(second - first).toBeGreaterThanOrEqual(350);
  });

  run('jobs are given up after their last attempt, and do not block others', async () => {
    await using place = await create();
    const given = Promise.withResolvers<void>();
    const error = vi.fn<(message: string) => void>((message) => message.includes('attempt 2 of 2') && given.resolve());
    const { definition, runs } = watched('poison', () => Promise.reject(new Error('never')), { attempts: 2 });
    const marker = createMarker();
    await using jobs = await place.open([definition, marker.definition], { log: { ...silentLog, error } });
    await jobs.add('poison', {});
    await given.promise;
    await jobs.add('marker', {});
    await marker.reached;
    expect(runs).toHaveLength(2);
  });

  run('jobs are not retried when that is useless', async () => {
    await using place = await create();
    const failed = Promise.withResolvers<string>();
    const { definition, runs } = watched('useless', () => {
      throw new UnrecoverableJobError('the account is gone');
    });
    const marker = createMarker();
    await using jobs = await place.open([definition, marker.definition], {
      log: { ...silentLog, error: (message, error) => failed.resolve(`${message}: ${String(error)}`) },
    });
    await jobs.add('useless', {});
    expect(await failed.promise).toBe('job useless failed (attempt 1 of 5): UnrecoverableError: the account is gone');
    await jobs.add('marker', {}, { delay: 0.1 });
    await marker.reached;
    expect(runs).toHaveLength(1);
  });

  run('jobs are refused when their data does not fit', async () => {
    await using place = await create();
    const { definition, runs } = watched('strict', () => undefined, {
      data: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false },
    });
    await using jobs = await place.open([definition], { isWorking: false });
    await expect(jobs.add('strict', { id: 5 })).rejects.toThrow('job strict: data/id must be string');
    await expect(jobs.add('strict', {})).rejects.toBeInstanceOf(UnrecoverableJobError);
    await expect(jobs.add('strict', { id: 'a', more: 1 })).rejects.toBeInstanceOf(UnrecoverableJobError);
    expect(runs).toEqual([]);
  });

  run('jobs are refused when nobody knows them', async () => {
    await using place = await create();
    await using jobs = await place.open([], { isWorking: false });
    await expect(jobs.add('unknown', {})).rejects.toThrow('Job "unknown" not found');
  });

  run('jobs are one when they have one id', async () => {
    await using place = await create();
    const { definition, runs } = watched('once', () => undefined);
    const marker = createMarker();
    await using jobs = await place.open([definition, marker.definition]);
    await Promise.all(Array.from({ length: 10 }, () => jobs.add('once', {}, { id: 'order-1' })));
    await jobs.add('once', {}, { id: 'order-1' });
    await jobs.add('marker', {}, { delay: 0.1 });
    await marker.reached;
    expect(runs).toHaveLength(1);
  });

  run('jobs come no earlier than they should', async () => {
    await using place = await create();
    const ran = Promise.withResolvers<number>();
    const { definition } = watched('late', () => ran.resolve(Date.now()));
    await using jobs = await place.open([definition]);
    const added = Date.now();
    await jobs.add('late', {}, { delay: 0.3 });
    expect(await ran.promise).toBeGreaterThanOrEqual(added + 299);
  });

  run('jobs are accepted with a delay that is not a whole number of milliseconds', async () => {
    await using place = await create();
    const ran = Promise.withResolvers<void>();
    const { definition } = watched('later', () => ran.resolve());
    await using jobs = await place.open([definition]);
    await jobs.add('later', {}, { delay: 0.0123456 });
    await ran.promise;
  });

  run('jobs that are running are waited for when the process stops', async () => {
    await using place = await create();
    const began = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    let isOver = false;
    const { definition } = watched('slow', async () => {
      began.resolve();
      await gate.promise;
      isOver = true;
    });
    const jobs = await place.open([definition]);
    await jobs.add('slow', {});
    await began.promise;
    let isStopped = false;
    const stopping = jobs[Symbol.asyncDispose]().then(() => {
      isStopped = true;
    });
    // Another one comes and goes meanwhile.
    const other = await place.open([definition], { isWorking: false });
    await other[Symbol.asyncDispose]();
    expect(isStopped).toBe(false);
    gate.resolve();
    await stopping;
    expect(isOver).toBe(true);
  });
});

// These wait for deadlines, each with its own store.
it.concurrent('a job that never ends does not keep the gateway from stopping', async () => {
  await using place = await placeInPostgres();
  const began = Promise.withResolvers<void>();
  const { definition } = watched('endless', () => {
    began.resolve();
    return new Promise(() => undefined);
  });
  const jobs = await place.open([definition]);
  await jobs.add('endless', {});
  await began.promise;
  await jobs[Symbol.asyncDispose]();
}, 60_000);
