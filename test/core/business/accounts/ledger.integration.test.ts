import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { addDays, endOrderPeriod, grantDays, revokeDays, revokeOrderDays } from '#core/business/accounts/ledger.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';

const day = 24 * 60 * 60 * 1_000; // ms

let database: Database;
let accountId: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  ({ accountId } = await createAccount(database, 'dp', { name: 'Ani' }));
});

const inTransaction: ReturnType<Database['fork']>['transactional'] = (work) => database.fork().transactional(work);

/** Enters a paid order without a period. */
async function placeOrder(days: number): Promise<string> {
  const orderId = randomUUID();
  await database.query(
    `insert into plan_order (id, code, account_id, days, price, currency, provider, state, expires_at, paid_at)
     values (?, ?, ?, ?, 1, 'IDR', 'sandbox', 'paid', now(), now())`,
    [orderId, orderId, accountId, days],
  );
  return orderId;
}

/** Enters a paid order and its period. */
async function buy(days: number, limits?: { limit: number }): Promise<string> {
  const orderId = await placeOrder(days);
  await inTransaction((transaction) => addDays(transaction, accountId, { days, reason: 'order', orderId, limits }));
  return orderId;
}

const refund = (orderId: string) => inTransaction((transaction) => endOrderPeriod(transaction, accountId, orderId));
const revoke = (days: number) => inTransaction((transaction) => revokeDays(transaction, accountId, days, 'mistake'));
const held = async () => (await findAccount(database, accountId)).periods;

/** Days of the periods in force, and of the gaps between them. */
async function shape() {
  const periods = await held();
  return {
    days: periods.map(({ startsAt, endsAt }) => (endsAt.getTime() - startsAt.getTime()) / day),
    gaps: periods.slice(1).map(({ startsAt }, index) => startsAt.getTime() - (periods[index]?.endsAt.getTime() ?? 0)),
  };
}

const replacements = () =>
  database.query<{ reason: string; order_id: string | null; days: number }>(
    'select reason, order_id, days from plan_period where account_id = ? and replaces is not null order by starts_at',
    [accountId],
  );

/** Begins `work` while days are being added, and commits these when it waits for them. */
async function whileAdding(days: number, work: () => Promise<unknown>): Promise<void> {
  const [added, waits] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const adding = inTransaction(async (transaction) => {
    await addDays(transaction, accountId, { days, reason: 'grant' });
    added.resolve();
    await waits.promise;
  });
  await added.promise;
  const working = work();
  await vi
    .waitFor(async () => {
      const locks = await database.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(locks).toHaveLength(1);
    }, 10_000)
    .finally(() => waits.resolve());
  await Promise.all([adding, working]);
}

describe('days that are being added', () => {
  it('start earlier after a refund that has waited for them', async () => {
    const orderId = await buy(7);
    await whileAdding(3, () => refund(orderId));
    const [, after, ...more] = await held();
    expect([after, more]).toEqual([undefined, []]);
    expect((await shape()).days).toEqual([3]);
    expect(Math.abs(Number((await held())[0]?.startsAt) - Date.now())).toBeLessThan(60_000);
  });

  it('are the first that a revocation takes which has waited for them', async () => {
    await grantDays(database, accountId, { days: 7 });
    await whileAdding(3, () => revoke(4));
    expect((await shape()).days.map((count) => Math.round(count))).toEqual([6]);
  });
});

describe('a bought period', () => {
  it('is added even when the account then holds more than a year', async () => {
    await grantDays(database, accountId, { days: 364 });
    await buy(30);
    expect((await shape()).days).toEqual([364, 30]);
  });

  it('has the limits of its plan', async () => {
    await buy(1, { limit: 5 });
    await buy(1);
    expect((await held()).map(({ limits }) => limits)).toEqual([{ limit: 5 }, undefined]);
  });

  it('is entered once for an order', async () => {
    const orderId = await buy(1);
    const again = inTransaction((transaction) =>
      addDays(transaction, accountId, { days: 1, reason: 'order', orderId }),
    );
    await expect(again).rejects.toThrow('plan_period_activates_once');
  });
});

describe('endOrderPeriod', () => {
  it('ends the running period now and moves the later ones to now, at full length', async () => {
    const orderId = await buy(7);
    await buy(30);
    await grantDays(database, accountId, { days: 3 });
    await refund(orderId);
    const { days, gaps } = await shape();
    expect(days.slice(-2)).toEqual([30, 3]);
    expect(gaps.every((gap) => gap === 0)).toBe(true);
    const last = (await held()).at(-1);
    expect(Math.abs((last?.endsAt.getTime() ?? 0) - Date.now() - 33 * day)).toBeLessThan(60_000);
  });

  it('removes a future period whole', async () => {
    await buy(7);
    const orderId = await buy(30);
    await buy(1);
    await refund(orderId);
    expect(await shape()).toEqual({ days: [7, 1], gaps: [0] });
  });

  it('leaves a period that is over as it is', async () => {
    const orderId = await placeOrder(1);
    await database.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason, order_id)
       values (gen_random_uuid(), ?, now() - interval '3 days', now() - interval '2 days', 1, 'order', ?)`,
      [accountId, orderId],
    );
    await buy(7);
    await refund(orderId);
    expect((await shape()).days).toEqual([7]);
    expect((await replacements()).map(({ reason }) => reason)).toEqual(['refund']);
  });

  it('changes no entry, and says which order each replacement belongs to', async () => {
    const first = await buy(7);
    const second = await buy(30);
    await refund(first);
    expect(await replacements()).toEqual([
      { reason: 'refund', order_id: first, days: 7 },
      { reason: 'shift', order_id: second, days: 30 },
    ]);
  });

  it('takes the same days once when it runs twice at once', async () => {
    const orderId = await buy(7);
    await buy(30);
    await Promise.all([refund(orderId), refund(orderId)]);
    expect((await shape()).days.at(-1)).toBe(30);
    expect((await held()).at(-1)?.endsAt.getTime()).toBeGreaterThan(Date.now() + 29.9 * day);
  });

  it('keeps the hours of days when the clocks of a time zone change', async () => {
    const orderId = await buy(200);
    await buy(150);
    await inTransaction(async (transaction) => {
      await transaction.execute("set local time zone 'America/New_York'");
      await endOrderPeriod(transaction, accountId, orderId);
    });
    const last = (await held()).at(-1);
    expect((last?.endsAt.getTime() ?? 0) - (last?.startsAt.getTime() ?? 0)).toBe(150 * day);
    expect((last?.endsAt.getTime() ?? 0) - Date.now()).toBeLessThan(150 * day + 1_000);
    expect((last?.endsAt.getTime() ?? 0) - Date.now()).toBeGreaterThan(150 * day - 60_000);
  });
});

describe('revokeOrderDays', () => {
  it.each([
    ['the time used', 12, 6.5],
    ['what the order sold, not what an outage gave besides', 27, 6],
  ])('takes %s from what the account holds besides', async (_what, usedHours, left) => {
    const orderId = await placeOrder(1);
    await database.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason, order_id)
       select gen_random_uuid(), ?, start, start + interval '30 hours', 1, 'outage', ?
       from (select now() - make_interval(hours => ?) as start)`,
      [accountId, orderId, usedHours],
    );
    await buy(7);
    await inTransaction((transaction) => revokeOrderDays(transaction, accountId, orderId, 'refund'));
    expect(Number((await held()).at(-1)?.endsAt) - Date.now()).toBeGreaterThan(left * day - 60_000);
    expect(Number((await held()).at(-1)?.endsAt) - Date.now()).toBeLessThan(left * day + 60_000);
  });
});

describe('revokeDays', () => {
  it('takes days from the end, across periods', async () => {
    await buy(7);
    await buy(3);
    expect(await revoke(5)).toBe(5 * 24 * 60 * 60);
    expect((await shape()).days).toEqual([5]);
  });

  it('takes no more than is left', async () => {
    await buy(2);
    const seconds = await revoke(30);
    expect(seconds).toBeLessThanOrEqual(2 * 24 * 60 * 60);
    expect((await held()).at(-1)?.endsAt.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  it('leaves no gap before what is bought afterwards', async () => {
    await buy(7);
    await buy(3);
    await revoke(5);
    await buy(1);
    expect(await shape()).toEqual({ days: [5, 1], gaps: [0] });
  });
});
