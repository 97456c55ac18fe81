import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { blockAccount } from '#core/business/accounts/blocking.ts';
import { listLedger } from '#core/business/accounts/ledger-entries.ts';
import { confirmIncident } from '#core/business/model-health/incident-store.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import {
  approveOutage,
  readCreditedMsByIncident,
  creditOutage,
  declineOutage,
  findOutage,
  isWaiting,
  listCredits,
  listOutages,
  type ConfirmedOutage,
  previewCredit,
} from '../../../plugins/outages/credit.ts';
import { computeCreditedMs, type CreditSpan } from '../../../plugins/outages/credited-time.ts';
import { listWitnesses } from '../../../plugins/outages/evidence.ts';
import { creditDueOutages, outageGauges } from '../../../plugins/outages/jobs.ts';
import { createBuyer } from '../../core/business/payments/fixture.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';

/** Sequences to try; more after changes: `OUTAGE_SEQUENCES=500`. */
const runs = Number(process.env['OUTAGE_SEQUENCES'] ?? 8);
const minute = 60_000;

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.query('create table request_log_p partition of request_log default');
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.query('delete from outage_credit');
  await database.query('delete from outage');
  await database.query('delete from incident');
  await database.query('delete from request_log');
});

type Settings = { credit?: boolean; from_minutes?: number; max_minutes_per_day?: number; mail?: boolean };

function hostWith(settings: Settings = {}, of: Database = database) {
  const outages = { credit: true, from_minutes: 5, max_minutes_per_day: 1_440, mail: false, ...settings };
  const values: Record<string, unknown> = { outages, service: { time_zone: 'Asia/Jakarta' } };
  return { database: of, log: silentLog, section: ({ name }: { name: string }) => values[name] } as unknown as Host;
}

/** Whole seconds, so that what comes back is exact. */
const now = () => Math.floor(Date.now() / 1_000) * 1_000;
const at = (ms: number) => new Date(ms).toISOString();

/** An account with paid time around now. @returns its id */
async function customer(from = now() - 30 * 86_400_000, until = now() + 86_400_000): Promise<string> {
  const id = await createBuyer(database);
  await database.query(
    `insert into plan_period (id, account_id, starts_at, ends_at, days, reason) values (?, ?, ?, ?, 31, 'grant')`,
    [randomUUID(), id, at(from), at(until)],
  );
  return id;
}

const failedAttempts = '[{"route": "one/m", "outcome": "failed", "fault": "route"}]';
const request = (
  accountId: string,
  time: number,
  outcome = 'failed',
  model = 'dp/gpt-6-sol',
  attempts: string | null = outcome === 'failed' ? failedAttempts : null,
) =>
  database.query(
    `insert into request_log (id, started_at, instance, account_id, endpoint, method, path, outcome, model, is_metered, duration_ms, attempts)
     values (?, ?, 'test', ?, 'chat', 'POST', '/v1/chat/completions', ?, ?, true, 0, ?::jsonb)`,
    [randomUUID(), at(time), accountId, outcome, model, attempts],
  );

async function incident(from: number, until: number, model = 'dp/gpt-6-sol', opened = from): Promise<string> {
  const id = randomUUID();
  await database.query(
    `insert into incident (id, model, kind, cause, started_at, opened_at, checked_at, ended_at)
     values (?, ?, 'down', 'routes_out', ?, ?, ?, ?)`,
    [id, model, at(from), at(opened), at(until), at(until)],
  );
  return id;
}

const addOutage = async (from: number, until: number, model = 'dp/gpt-6-sol') => {
  const id = randomUUID();
  const columns = 'id, incident_id, model, from_at, until_at, is_confirmed';
  await database.query(`insert into outage (${columns}) values (?, ?, ?, ?, ?, true)`, [
    id,
    randomUUID(),
    model,
    at(from),
    at(until),
  ]);
  return findOutage(database, id);
};

const addDeclined = async (from: number) => declineOutage(database, (await addOutage(from, from + minute)).id);

/** Seconds between now and the end of what an account holds. */
async function heldUntil(accountId: string): Promise<number> {
  const [row] = await database.query<{ end: number }>(
    `select extract(epoch from max(ends_at))::float8 as "end" from plan_period p where account_id = ?
       and not exists (select from plan_period r where r.replaces = p.id)`,
    [accountId],
  );
  return row?.end ?? 0;
}

const inForce = (accountId: string) =>
  database.query<object>(
    `select reason, replaces, (extract(epoch from ends_at - starts_at) / 60)::float8 as minutes, days from plan_period p
     where account_id = ? and not exists (select from plan_period r where r.replaces = p.id) order by starts_at`,
    [accountId],
  );

const start = () => now() - 60 * minute;

describe('an outage', () => {
  it('is from the first to the last failure between two answers, when requests of two accounts failed', async () => {
    const [one, other] = [await customer(), await customer()];
    const from = start();
    await incident(from, from + 30 * minute);
    await request(one, from - minute, 'answered');
    for (const [account, minutes] of [
      [one, 0],
      [other, 5],
      [one, 23],
    ] as const)
      await request(account, from + minutes * minute);
    await request(one, from + 24 * minute, 'answered');
    await request(other, from + 25 * minute);
    await creditDueOutages(hostWith());
    await Promise.all([creditDueOutages(hostWith()), creditDueOutages(hostWith())]);
    expect(await listOutages(database, 10)).toMatchObject([
      { model: 'dp/gpt-6-sol', from: new Date(from), until: new Date(from + 23 * minute), creditedAt: undefined },
    ]);
  });

  it('is none when one account alone failed, when it was short, or when credit is off', async () => {
    const [one, other] = [await customer(), await customer()];
    const from = start();
    await incident(from, from + 30 * minute);
    for (const minutes of [0, 10, 20]) await request(one, from + minutes * minute);
    await creditDueOutages(hostWith());
    await request(other, from + minute, 'answered');
    await creditDueOutages(hostWith());
    expect(await listOutages(database, 10)).toEqual([]);
    await request(other, from + 15 * minute);
    await creditDueOutages(hostWith({ from_minutes: 20 }));
    await creditDueOutages(hostWith({ credit: false }));
    expect(await listOutages(database, 10)).toEqual([]);
    await creditDueOutages(hostWith());
    expect(await listOutages(database, 10)).toHaveLength(1);
  });
});

describe('a probe that failed on every route', () => {
  it('confirms an outage that one account alone has felt, and counts as a failure in it', async () => {
    const one = await customer();
    const from = start();
    const id = await incident(from, from + 30 * minute);
    for (const minutes of [0, 3]) await request(one, from + minutes * minute);
    await confirmIncident(database, { id }, from + 9 * minute);
    await confirmIncident(database, { id }, from + 20 * minute);
    await creditDueOutages(hostWith());
    expect(await listOutages(database, 10)).toMatchObject([
      { incidentId: id, from: new Date(from), until: new Date(from + 9 * minute) },
    ]);
  });

  it('confirms nothing before a route has answered again, and nothing in another incident', async () => {
    const one = await customer();
    const from = start();
    const confirmed = await incident(from, from + 30 * minute);
    await incident(from, from + 30 * minute, 'dp/other');
    await confirmIncident(database, { id: confirmed }, from + minute);
    await request(one, from);
    await request(one, from + 2 * minute, 'answered');
    for (const minutes of [5, 20]) await request(one, from + minutes * minute);
    for (const minutes of [0, 20]) await request(one, from + minutes * minute, 'failed', 'dp/other');
    await creditDueOutages(hostWith());
    expect(await listOutages(database, 10)).toEqual([]);
  });
});

/** They fail from the beginning; the incident is opened two minutes later, as in the report of two accounts of one person. */
async function madeByTwo(): Promise<{ readonly from: number; readonly pair: readonly string[] }> {
  const pair = [await customer(), await customer()];
  const from = start();
  await incident(from, from + 30 * minute, 'dp/gpt-6-sol', from + 2 * minute);
  for (const [index, account] of pair.entries())
    for (const minutes of [0, 1, 10, 20]) await request(account, from + (minutes + index / 10) * minute);
  // An operator has given time back before.
  const earlier = await addOutage(from - 9 * 86_400_000, from - 9 * 86_400_000 + 10 * minute);
  await creditOutage(hostWith(), earlier);
  return { from, pair };
}
const latest = async () => (await listOutages(database, 10)).find(({ from }) => +from >= start() - 60 * minute);

describe('an outage that two accounts may have made', () => {
  it('waits for the operator, and shows the affected accounts and those that had failed before', async () => {
    const { from, pair } = await madeByTwo();
    const late = await customer();
    await request(late, from + 15 * minute);
    const before = await Promise.all(pair.map(heldUntil));
    await creditDueOutages(hostWith());
    const outage = await latest();
    expect(outage).toMatchObject({ isConfirmed: false, creditedAt: undefined });
    expect(await Promise.all(pair.map(heldUntil))).toEqual(before);
    expect(await listWitnesses(database, outage as ConfirmedOutage, 10)).toEqual([
      ...pair.toSorted().map((accountId) => ({ accountId, failures: 4, hadEarlierFailures: true })),
      { accountId: late, failures: 1, hadEarlierFailures: false },
    ]);
    expect(await outageGauges[0]?.read(hostWith())).toEqual([{ value: 1 }]);
  });

  it('is given back without asking once two others have failed that had not before', async () => {
    const { from } = await madeByTwo();
    const others = [await customer(), await customer()];
    const before = await Promise.all(others.map(heldUntil));
    for (const account of others) await request(account, from + 15 * minute);
    await creditDueOutages(hostWith());
    expect(await latest()).toMatchObject({ isConfirmed: true, creditedAt: expect.any(Date) });
    expect((await heldUntil(others[0] ?? '')) - (before[0] ?? 0)).toBe(20.1 * 60);
  });

  it('is given back without asking when a probe has failed as well', async () => {
    const { from } = await madeByTwo();
    const [row] = await database.query<{ id: string }>('select id from incident');
    await confirmIncident(database, { id: row?.id ?? '' }, from + 9 * minute);
    await creditDueOutages(hostWith());
    expect(await latest()).toMatchObject({ isConfirmed: true });
  });

  it('is neither longer nor confirmed by requests that a breaker refused', async () => {
    const { from } = await madeByTwo();
    const others = [await customer(), await customer()];
    for (const account of others)
      for (const attempts of [null, '[]'])
        await request(account, from + 25 * minute, 'failed', 'dp/gpt-6-sol', attempts);
    await creditDueOutages(hostWith());
    expect(await latest()).toMatchObject({ isConfirmed: false, until: new Date(from + 20.1 * minute) });
  });

  it('is none where only refusals by a breaker came from the second account', async () => {
    const [one, other] = [await customer(), await customer()];
    const from = start();
    await incident(from, from + 30 * minute);
    for (const minutes of [0, 20]) await request(one, from + minutes * minute);
    for (const minutes of [5, 25]) await request(other, from + minutes * minute, 'failed', 'dp/gpt-6-sol', null);
    await creditDueOutages(hostWith());
    expect(await listOutages(database, 10)).toEqual([]);
  });
});

describe('an outage that an operator declines', () => {
  it('gives no days and waits for no decision, until the operator grants it after all', async () => {
    const account = await customer();
    const before = await heldUntil(account);
    const from = now() - 60 * minute;
    await request(account, from);
    const { id } = await addOutage(from, from + 10 * minute);
    await declineOutage(database, id);
    await declineOutage(database, id.toUpperCase());
    await creditDueOutages(hostWith());
    const declined = await findOutage(database, id);
    expect([declined.declinedAt instanceof Date, isWaiting(declined)]).toEqual([true, false]);
    expect(await creditOutage(hostWith(), declined)).toEqual({ accounts: 0, seconds: 0 });
    expect((await findOutage(database, id)).creditedAt).toBeUndefined();
    expect(await outageGauges[0]?.read(hostWith())).toEqual([{ value: 0 }]);
    expect(await heldUntil(account)).toBe(before);
    expect(await approveOutage(hostWith(), id)).toEqual({ accounts: 1, seconds: 600 });
    expect(await findOutage(database, id)).toMatchObject({ declinedAt: undefined, creditedAt: expect.any(Date) });
  });

  it('cannot be declined once an account has got its time back', async () => {
    const [one, other] = [await customer(), await customer()];
    const from = now() - 60 * minute;
    for (const account of [one, other]) await request(account, from);
    const outage = await addOutage(from, from + 10 * minute);
    await expect(creditOutage(hostWith({}, killedAfter(1)), outage)).rejects.toThrow('killed');
    expect((await findOutage(database, outage.id)).creditedAt).toBeUndefined();
    await expect(declineOutage(database, outage.id)).rejects.toMatchObject({ kind: 'credited' });
    await expect(declineOutage(database, randomUUID())).rejects.toMatchObject({ kind: 'not_found' });
    expect(await creditOutage(hostWith(), outage)).toEqual({ accounts: 1, seconds: 600 });
  });
});

describe('the credit for an outage', () => {
  it('waits for an operator the first time, and never again', async () => {
    const account = await customer();
    const before = await heldUntil(account);
    const from = now() - 3 * 60 * minute;
    await request(account, from - 86_400_000, 'answered');
    const first = await addOutage(from, from + 23 * minute);
    await creditDueOutages(hostWith());
    expect(await heldUntil(account)).toBe(before);
    expect(await previewCredit(hostWith(), first)).toEqual({ accounts: 1, seconds: 23 * 60 });
    expect(await creditOutage(hostWith(), first)).toEqual({ accounts: 1, seconds: 23 * 60 });
    const second = await addOutage(from + 60 * minute, from + 70 * minute);
    await creditDueOutages(hostWith());
    expect(await heldUntil(account)).toBe(before + 33 * 60);
    expect((await readCreditedMsByIncident(database, 0)).get(second.incidentId)).toBe(10 * minute);
    expect(await listCredits(database, account, 30)).toMatchObject([
      { seconds: 600 },
      { seconds: 1_380, model: 'dp/gpt-6-sol' },
    ]);
  });

  it('waits for outages that were found before the first was approved, however many came between', async () => {
    const account = await customer();
    const from = now() - 20 * 60 * minute;
    await request(account, from);
    const [first, older] = [
      await addOutage(from + 60 * minute, from + 70 * minute),
      await addOutage(from, from + 10 * minute),
    ];
    await creditOutage(hostWith(), first);
    const before = await heldUntil(account);
    await creditDueOutages(hostWith());
    expect([await heldUntil(account), isWaiting(await findOutage(database, older.id))]).toEqual([before, true]);
    const later = await addOutage(from + 20 * minute, from + 30 * minute);
    await creditDueOutages(hostWith());
    expect((await findOutage(database, later.id)).creditedAt).toBeInstanceOf(Date);
    for (let n = 0; n < 3; n++) await addDeclined(from + (100 + n) * minute);
    const asked = await listOutages(database, 1, 'unapproved');
    expect(asked.map(({ id }) => id)).toEqual([older.id]);
    expect(await listOutages(database, 1, 'automatic')).toEqual([]);
    expect(await previewCredit(hostWith(), first)).toEqual({ accounts: 0, seconds: 0 });
  });

  it('goes to accounts with paid time then that used the model within 7 days, and to no others', async () => {
    const from = now() - 60 * minute;
    const [used, tried, idle, stranger, blocked, later] = [
      await customer(),
      await customer(),
      await customer(),
      await customer(),
      await customer(),
      await customer(now() - minute),
    ];
    const before = await Promise.all([used, tried, idle, stranger, blocked, later].map(heldUntil));
    for (const account of [used, blocked, later]) await request(account, from - 6 * 86_400_000, 'answered');
    await request(tried, from + minute);
    await request(idle, from - 8 * 86_400_000, 'answered');
    await request(stranger, from, 'answered', 'dp/other');
    await blockAccount(database, blocked, 'test');
    await creditOutage(hostWith(), await addOutage(from, from + 10 * minute));
    const after = await Promise.all([used, tried, idle, stranger, blocked, later].map(heldUntil));
    expect(after.map((end, index) => end - (before[index] ?? 0))).toEqual([600, 600, 0, 0, 0, 0]);
  });

  it('makes the running period longer, moves later ones, and keeps their order and limits', async () => {
    const next = now() + 3_600_000;
    const account = await customer(now() - 86_400_000, next);
    await database.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason, limits)
       values (?, ?, ?, ?, 7, 'grant', '{"limit": 5}')`,
      [randomUUID(), account, at(next), at(next + 7 * 86_400_000)],
    );
    const from = now() - 60 * minute;
    await request(account, from);
    await creditOutage(hostWith(), await addOutage(from, from + 10 * minute));
    const entries = await database.query<object>(
      `select reason, limits::text, (extract(epoch from ends_at - starts_at) / 60)::float8 as minutes from plan_period p
       where account_id = ? and not exists (select from plan_period r where r.replaces = p.id) order by starts_at`,
      [account],
    );
    expect(entries).toMatchObject([
      { reason: 'outage', limits: null },
      { reason: 'shift', limits: '{"limit": 5}' },
    ]);
    const [overlap] = await database.query<{ gap: number }>(
      `select extract(epoch from max(starts_at) - min(ends_at))::float8 as gap from plan_period p
       where account_id = ? and not exists (select from plan_period r where r.replaces = p.id)`,
      [account],
    );
    expect(overlap?.gap).toBe(0);
    const told = (await listLedger(database, account)).map((entry) => [entry.reason, entry.outageModel]);
    expect(told.filter(([, model]) => model !== undefined)).toEqual([['outage', 'dp/gpt-6-sol']]);
    const mails = await database.query(
      `select 1 from account_event where name = 'outage.credited' and payload ->> 'accountId' = ?`,
      [account],
    );
    expect(mails).toHaveLength(1);
  });

  it('runs from now for an account whose pass has ended since', async () => {
    const account = await customer(now() - 86_400_000, now() - 20 * minute);
    const from = now() - 60 * minute;
    await request(account, from);
    await creditOutage(hostWith(), await addOutage(from, from + 10 * minute));
    expect((await heldUntil(account)) * 1_000).toBeCloseTo(Date.now() + 10 * minute, -4);
  });

  it('does not make paid time of the gap before it: an outage in the gap gives nothing', async () => {
    const day = 86_400_000;
    const account = await customer(now() - 9 * day, now() - 2 * day);
    await request(account, now() - 3 * day);
    const [inPass, inGap] = [
      await addOutage(now() - 3 * day, now() - 3 * day + 300 * minute),
      await addOutage(now() - day, now() - day + 300 * minute),
    ];
    const ofPass = await inForce(account);
    expect(await creditOutage(hostWith(), inPass)).toEqual({ accounts: 1, seconds: 18_000 });
    expect(await previewCredit(hostWith(), inGap)).toEqual({ accounts: 0, seconds: 0 });
    expect(await inForce(account)).toEqual([...ofPass, { reason: 'outage', replaces: null, minutes: 300, days: 31 }]);
    const started = `select 1 from account_event where name = 'plan.started' and payload ->> 'accountId' = ?`;
    expect(await database.query(started, [account])).toHaveLength(1);
    // What runs again is one period, which a further outage makes longer.
    const other = await addOutage(now() - 3 * day + 400 * minute, now() - 3 * day + 410 * minute);
    expect(await creditOutage(hostWith(), other)).toEqual({ accounts: 1, seconds: 600 });
    expect(await inForce(account)).toMatchObject([...ofPass, { reason: 'outage', minutes: 310 }]);
    expect(await database.query(started, [account])).toHaveLength(1);
  });

  it(
    'is given once, whatever runs at once and is killed where, and each moment once over several models',
    async () => {
      const models = ['dp/a', 'dp/b', 'dp/c'];
      const outage = fc.record({
        model: fc.constantFrom(...models),
        from: fc.integer({ min: 60, max: 2 * 1_440 }),
        minutes: fc.integer({ min: 1, max: 59 }),
      });
      const scenario = fc.record({
        outages: fc.array(outage, { minLength: 1, maxLength: 5 }),
        uses: fc.array(fc.subarray(models), { minLength: 1, maxLength: 4 }),
        cap: fc.constantFrom(30, 1_440),
        crashes: fc.array(fc.nat(4), { maxLength: 3 }),
      });
      await fc.assert(
        fc.asyncProperty(scenario, async ({ outages, uses, cap, crashes }) => {
          await database.query('delete from outage_credit');
          await database.query('delete from outage');
          const base = now();
          const accounts = await Promise.all(uses.map(() => customer(base - 30 * 86_400_000)));
          const before = await Promise.all(accounts.map(heldUntil));
          for (const [index, account] of accounts.entries())
            for (const model of uses[index] ?? []) await request(account, base - 3 * 86_400_000, 'answered', model);
          const made: ConfirmedOutage[] = [];
          for (const { model, from, minutes } of outages)
            made.push(await addOutage(base - from * minute, base - (from - minutes) * minute, model));
          const settings = { max_minutes_per_day: cap };
          for (const survives of crashes)
            for (const one of made)
              await creditOutage(hostWith(settings, killedAfter(survives)), one).catch(() => undefined);
          const all = () => Promise.all(made.map((one) => creditOutage(hostWith(settings), one)));
          await Promise.all([all(), all()]);
          for (const [index, account] of accounts.entries()) {
            const felt = outages
              .filter(({ model }) => uses[index]?.includes(model))
              .map(({ from, minutes }): CreditSpan => [base - from * minute, base - (from - minutes) * minute]);
            const paid: CreditSpan[] = [[base - 30 * 86_400_000, base + 86_400_000]];
            const expected = computeCreditedMs(felt, paid, cap * minute, 'Asia/Jakarta') / 1_000;
            expect((await heldUntil(account)) - (before[index] ?? 0)).toBe(expected);
          }
        }),
        { numRuns: runs, endOnFailure: runs < 100 },
      );
    },
    Math.max(60_000, runs * 5_000),
  );
});

/** A database whose process is killed: after so many transactions, each begins and is rolled back. */
function killedAfter(transactions: number): Database {
  let left = transactions;
  const fork = () => {
    const manager = database.fork();
    const transactional = manager.transactional.bind(manager);
    manager.transactional = (work) =>
      transactional(async (transaction) => {
        const result = await work(transaction);
        if (left-- <= 0) throw new Error('killed before the commit');
        return result;
      });
    return manager;
  };
  return { ...database, query: database.query.bind(database), fork } as Database;
}
