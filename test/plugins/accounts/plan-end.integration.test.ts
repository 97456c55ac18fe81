import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readEvents } from '#core/business/accounts/account-events.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { addDays, grantDays, revokeDays } from '#core/business/accounts/ledger.ts';
import { recordPlanEnd } from '#core/business/accounts/plan-end.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { Jobs } from '#core/platform/jobs/jobs.ts';
import { planEndJob, planEndSweep } from '../../../plugins/accounts/jobs.ts';
import { createTestDatabase } from '../../support/database.ts';

const hour = 3_600; // seconds
const day = 24 * hour;

interface AddedJob {
  readonly accountId: string;
  readonly id: string;
  readonly delay: number;
}

let database: Database;
let accountId: string;
let jobs: AddedJob[];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  ({ accountId } = await createAccount(database, 'dp', { name: 'Ani' }));
  jobs = [];
});

/** Enters a period that began and ends so many seconds from now. */
async function addPeriod(from: number, until: number): Promise<void> {
  await database.query(
    `insert into plan_period (id, account_id, starts_at, ends_at, days, reason)
     values (gen_random_uuid(), ?, now() + make_interval(secs => ?), now() + make_interval(secs => ?), 1, 'grant')`,
    [accountId, from, until],
  );
}

/** Sessions that wait for the lock of a row. */
async function waiting(): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
}

function createHost() {
  const own: Pick<Jobs, 'add'> = {
    add: async (_name, data, { id = '', delay = 0 } = {}) => {
      if (data['accountId'] === accountId) jobs.push({ accountId, id, delay });
    },
  };
  const host = createTestHost({ database });
  return Object.assign(host, { jobs: { ...host.jobs, ...own } });
}

async function sweep(): Promise<void> {
  await using host = createHost();
  await planEndSweep.run({}, host);
}

/** Runs the delayed job. */
async function runJob(): Promise<void> {
  await using host = createHost();
  await planEndJob.run({ accountId }, host);
}

/** Names of this account's events about its plan, without that of its beginning. */
async function eventsOfPlan(): Promise<string[]> {
  const events = await readEvents(database, '0', 1_000);
  return events
    .filter(
      ({ name, payload }) => name.startsWith('plan.end') && 'accountId' in payload && payload.accountId === accountId,
    )
    .map(({ name }) => name);
}

describe('a plan', () => {
  it('that ends in a minute has a job at its end', async () => {
    await addPeriod(-day, 60);
    await recordPlanEnd(database, accountId); // its last 24 hours
    await sweep();
    expect(jobs).toHaveLength(1);
    expect(jobs[0]?.delay).toBeGreaterThan(50);
    expect(jobs[0]?.delay).toBeLessThanOrEqual(60.1);
  });

  it('that ends in 24 hours and a minute has a job in a minute', async () => {
    await addPeriod(-day, day + 60);
    await sweep();
    expect(jobs.map(({ delay }) => Math.round(delay / 30) * 30)).toEqual([60]);
  });

  it('has the same job, however often it is swept', async () => {
    await addPeriod(-day, day + 60);
    await sweep();
    await sweep();
    expect(jobs).toHaveLength(2);
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(1);
    expect(jobs[0]?.id).not.toContain(':'); // BullMQ refuses it
  });

  it('that ends in 25 hours causes neither jobs nor events', async () => {
    await addPeriod(-day, 25 * hour);
    await sweep();
    expect([jobs, await eventsOfPlan()]).toEqual([[], []]);
  });

  it('is reported once 24 hours before its end and once at its end, by two workers at once', async () => {
    await addPeriod(-3 * day, 20 * hour);
    await Promise.all([runJob(), runJob(), sweep(), sweep()]);
    expect(await eventsOfPlan()).toEqual(['plan.ending']);
    await database.query(
      `with old as (select id from plan_period where account_id = ?)
       insert into plan_period (id, replaces, reason, account_id, starts_at, ends_at, days)
       select gen_random_uuid(), id, 'revoke', ?, now() - interval '3 days', now() - interval '1 second', 1 from old`,
      [accountId, accountId],
    );
    await Promise.all([runJob(), runJob(), sweep(), sweep()]);
    expect(await eventsOfPlan()).toEqual(['plan.ending', 'plan.ended']);
  });

  it('whose jobs were lost with the queue is found by the sweep', async () => {
    await addPeriod(-5 * day, -2 * day);
    await sweep();
    expect(await eventsOfPlan()).toEqual(['plan.ended']);
  });

  it('that ended more than a week ago is not reported', async () => {
    await addPeriod(-20 * day, -8 * day);
    await sweep();
    expect(await eventsOfPlan()).toEqual([]);
  });

  it('that was renewed in between is not reported by the old job', async () => {
    await addPeriod(-3 * day, 1);
    await grantDays(database, accountId, { days: 7 });
    await runJob();
    await sweep();
    expect(await eventsOfPlan()).toEqual([]);
  });

  it('whose renewal is being committed at its end is not reported', async () => {
    await addPeriod(-day, -1);
    const committed = Promise.withResolvers<void>();
    const added = Promise.withResolvers<void>();
    const renewal = database.fork().transactional(async (transaction) => {
      await addDays(transaction, accountId, { days: 7, reason: 'grant' });
      added.resolve();
      await committed.promise;
    });
    await added.promise;
    const report = recordPlanEnd(database, accountId);
    await vi.waitFor(async () => expect(await waiting()).toBe(1), 10_000);
    committed.resolve();
    await Promise.all([renewal, report]);
    expect(await eventsOfPlan()).toEqual([]);
  });

  it('that was extended after the notice is reported again before its new end', async () => {
    await addPeriod(-3 * day, 20 * hour);
    await runJob();
    await addPeriod(20 * hour, 23 * hour);
    await sweep();
    expect(await eventsOfPlan()).toEqual(['plan.ending', 'plan.ending']);
  });

  it('whose days were taken back has ended at that moment', async () => {
    await grantDays(database, accountId, { days: 3 });
    await database.fork().transactional((tx) => revokeDays(tx, accountId, 3, 'mistake'));
    await sweep();
    expect(await eventsOfPlan()).toEqual(['plan.ended']);
  });

  it('of a deleted account is not reported', async () => {
    await addPeriod(-2 * day, -60);
    await database.query('update account set deleted_at = now() where id = ?', [accountId]);
    await sweep();
    expect(await eventsOfPlan()).toEqual([]);
  });
});

describe('the end of a plan', () => {
  it('reaches the caches of all instances', async () => {
    await addPeriod(-2 * day, -60);
    const heard = Promise.withResolvers<void>();
    const stop = await database.notifications.listen(
      'account',
      (id) => id === accountId && heard.resolve(),
      () => undefined,
    );
    await sweep();
    await heard.promise;
    stop();
  });

  it('is stated to the millisecond', async () => {
    await addPeriod(-2 * day, -60);
    await sweep();
    const [row] = await database.query<{ ends_at: number }>(
      'select (extract(epoch from ends_at) * 1000)::float8 as ends_at from plan_period where account_id = ?',
      [accountId],
    );
    const events = await readEvents(database, '0', 1_000);
    const ended = events.find(
      ({ name, payload }) => name === 'plan.ended' && 'accountId' in payload && payload.accountId === accountId,
    );
    expect(ended?.payload).toEqual({ accountId, endsAt: new Date(row?.ends_at ?? 0).toISOString() });
  });
});
