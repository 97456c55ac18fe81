import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { grantDays, revokeDays } from '#core/business/accounts/ledger.ts';
import type { PaymentEvidence, PaymentState } from '#core/business/payments/payment-provider.ts';
import { settle } from '#core/business/payments/settle.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { FakeProvider } from './fake-provider.ts';
import { createPaymentHost } from './fixture.ts';
import { createBuyer } from './fixture.ts';

/** Sequences to try: 10,000 for the figure of docs/payments.md. */
const runs = Number(process.env['PAYMENT_SEQUENCES'] ?? 15);

type Step =
  | { readonly kind: 'grant' | 'revoke' | 'order' | 'late'; readonly days: number }
  | { readonly kind: 'repeat' | 'second' | 'refund' | 'expire' | 'wrong'; readonly order: number };

const days = fc.integer({ min: 1, max: 30 });
const order = fc.nat({ max: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('order' as const, 'late' as const), days }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('grant' as const, 'revoke' as const), days }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'repeat' as const,
        'second' as const,
        'refund' as const,
        'expire' as const,
        'wrong' as const,
      ),
      order,
    }),
  },
);

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** What has been done to one account, and what it must hold. */
class Bookkeeping {
  readonly accountId: string;
  readonly orders: { readonly id: string; readonly reference: string; readonly days: number }[] = [];
  grantedDays = 0;
  revokedSeconds = 0;

  constructor(accountId: string) {
    this.accountId = accountId;
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const one of steps) await this.#take(one);
  }

  async #take(one: Step): Promise<void> {
    if ('days' in one) {
      if (one.kind === 'grant') return this.#grant(one.days);
      if (one.kind === 'revoke') return this.#revoke(one.days);
      return this.#buy(one.days, one.kind === 'late');
    }
    const subject = this.orders[one.order % Math.max(1, this.orders.length)];
    if (subject === undefined) return;
    const { reference } = subject;
    if (one.kind === 'repeat') await this.#settle(reference, 'paid');
    else if (one.kind === 'expire') await this.#settle(reference, 'expired');
    else if (one.kind === 'refund') await this.#settle(reference, 'refunded');
    else if (one.kind === 'second') await this.#settle(reference, 'paid', { paymentId: `second ${reference}` });
    else
      await this.#settle(reference, 'paid', { paymentId: `wrong ${reference}`, paid: { amount: 1, currency: 'IDR' } });
  }

  async #grant(count: number): Promise<void> {
    try {
      await grantDays(database, this.accountId, { days: count });
      this.grantedDays += count;
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
    }
  }

  async #revoke(count: number): Promise<void> {
    const taken = await database
      .fork()
      .transactional((transaction) => revokeDays(transaction, this.accountId, count, 'property'));
    this.revokedSeconds += taken;
  }

  async #buy(count: number, isLate: boolean): Promise<void> {
    const id = randomUUID();
    const reference = `${id}.1`;
    await database.query(
      `insert into plan_order (id, code, account_id, days, price, currency, provider, state, expires_at)
       values (?, ?, ?, ?, 5, 'IDR', 'fake', 'pending', clock_timestamp() + interval '30 min')`,
      [id, id, this.accountId, count],
    );
    await database.query(
      `insert into payment_attempt (reference, order_id, number, provider, charge, amount, currency, expires_at)
       values (?, ?, 1, 'fake', 'created', 5, 'IDR', clock_timestamp())`,
      [reference, id],
    );
    this.orders.push({ id, reference, days: count });
    if (isLate) await this.#settle(reference, 'expired');
    await this.#settle(reference, 'paid');
  }

  async #settle(reference: string, state: PaymentState, more: Partial<PaymentEvidence> = {}): Promise<void> {
    const paid = state === 'paid' ? { paid: { amount: 5, currency: 'IDR' } } : {};
    const evidence = { reference, providerReference: `T-${reference}`, paymentId: `P-${reference}`, raw: null };
    await settle(createPaymentHost(database, [new FakeProvider().provider]), 'fake', {
      ...evidence,
      state,
      ...paid,
      ...more,
    });
  }
}

/** The ledger of an account in µs, exactly. */
async function audit(accountId: string) {
  const [row] = await database.query<Record<string, string>>(
    `with entry as (
       select *, extract(epoch from ends_at - starts_at) * 1000000 as length,
         not exists (select 1 from plan_period r where r.replaces = p.id) as in_force
       from plan_period p where account_id = ?
     ), held as (
       select *, lead(starts_at) over (order by starts_at, ends_at) as next_start from entry where in_force and length > 0
     )
     select
       (select coalesce(sum(length), 0)::bigint from held)::text as held,
       (select coalesce(sum(length), 0)::bigint from entry where reason in ('grant', 'order'))::text as added,
       (select coalesce(sum(o.length - e.length), 0)::bigint from entry e join entry o on o.id = e.replaces
         where e.reason = 'refund')::text as refunded,
       (select coalesce(sum(o.length - e.length), 0)::bigint from entry e join entry o on o.id = e.replaces
         where e.reason = 'revoke')::text as revoked,
       (select count(*) from entry e join entry o on o.id = e.replaces
         where e.reason = 'shift' and e.length <> o.length)::text as shortened,
       (select count(*) from held where next_start < ends_at)::text as overlaps,
       (select count(*) from held where next_start > ends_at and next_start > clock_timestamp())::text as gaps`,
    [accountId],
  );
  return row ?? {};
}

describe('the ledger', () => {
  it(
    'holds the days that were paid for, to the microsecond, after any sequence with two workers at once',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 7 }), fc.array(step, { maxLength: 7 }), async (one, other) => {
          const books = new Bookkeeping(await createBuyer(database));
          const begun = performance.now();
          await Promise.all([books.run(one), books.run(other)]);
          const used = performance.now() - begun;
          const ledger = await audit(books.accountId);
          const paidDays = await activatedDays(books.accountId);
          const second = 1_000_000n;
          expect(BigInt(ledger['added'] ?? 0)).toBe(BigInt(paidDays + books.grantedDays) * 86_400n * second);
          expect(BigInt(ledger['held'] ?? 0)).toBe(
            BigInt(ledger['added'] ?? 0) - BigInt(ledger['refunded'] ?? 0) - BigInt(ledger['revoked'] ?? 0),
          );
          expect(Number(ledger['revoked']) / 1e6).toBeCloseTo(books.revokedSeconds, 3);
          expect(ledger).toMatchObject({ shortened: '0', overlaps: '0', gaps: '0' });
          await expectRefunded(books.accountId, used);
        }),
        { numRuns: runs, endOnFailure: runs < 1_000 },
      );
    },
    Math.max(60_000, runs * 2_000),
  );
});

/** Days of all orders except those whose refund was seen before their payment: they buy nothing. */
async function activatedDays(accountId: string): Promise<number> {
  const [sum] = await database.query<{ days: number }>(
    `select coalesce(sum(o.days), 0)::int as days from plan_order o join payment p on p.order_id = o.id
     where o.account_id = ? and p.outcome = 'activated'`,
    [accountId],
  );
  return sum?.days ?? 0;
}

/** A refunded order keeps no more than the time that it ran, and every other paid order all of its days. */
async function expectRefunded(accountId: string, milliseconds: number): Promise<void> {
  const kept = await database.query<{ seconds: number }>(
    `select extract(epoch from p.ends_at - p.starts_at)::float8 as seconds
     from plan_period p join plan_order o on o.id = p.order_id
     where p.account_id = ? and o.state = 'refunded' and not exists (select 1 from plan_period r where r.replaces = p.id)`,
    [accountId],
  );
  for (const { seconds } of kept) expect(seconds).toBeLessThanOrEqual(milliseconds / 1_000 + 1);
  const [entered] = await database.query<{ wrong: number }>(
    `select count(*)::int as wrong from plan_order o where account_id = ? and (
       (select count(*) from plan_period p where p.order_id = o.id and p.reason = 'order')
         <> case when exists (select 1 from payment y where y.order_id = o.id and y.outcome = 'activated') then 1 else 0 end
       or not exists (select 1 from payment y where y.order_id = o.id and y.outcome = 'activated') and o.state <> 'refunded'
       or o.state not in ('paid', 'refunded'))`,
    [accountId],
  );
  expect(entered?.wrong).toBe(0);
}
