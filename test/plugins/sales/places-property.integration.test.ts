import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { grantDays, revokeDays } from '#core/business/accounts/ledger.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { cancelOrder, renewCharge, startOrder } from '#core/business/payments/checkout.ts';
import { readGiftCode } from '#core/business/payments/gifts.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { settle } from '#core/business/payments/settle.ts';
import type { Database } from '#core/platform/database/database.ts';
import { reserveFreePlaces } from '../../../plugins/sales/jobs.ts';
import { heldPlaces } from '../../../plugins/sales/places.ts';
import { countPlaces } from '../../../plugins/sales/sales-figures.ts';
import { joinWaitingList, leaveWaitingList } from '../../../plugins/sales/waiting-list.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import { createBuyer, createPaymentHost, type PaymentHost, referenceOf } from '../../core/business/payments/fixture.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';
import { redeemCode } from '../../support/redeem-code.ts';
import { tablesHere } from '../../support/registered.ts';

/** Sequences to try; more after changes: `SALES_SEQUENCES=1000`. */
const runs = Number(process.env['SALES_SEQUENCES'] ?? 6);
const accounts = 6;

/** Steps of a batch run at once, on two instances in turn. */
const kinds = [
  'buy',
  'buy',
  'buy',
  'buy a gift',
  'redeem',
  'pay',
  'pay',
  'cancel',
  'expire',
  'recharge',
  'end',
  'grant',
  'join',
  'leave',
  'lapse',
] as const;
const step = fc.record({ kind: fc.constantFrom(...kinds), account: fc.nat(accounts - 1), days: fc.constantFrom(1, 7) });
type Step = { readonly kind: (typeof kinds)[number]; readonly account: number; readonly days: number };
const batch = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 8 }), max: fc.integer({ min: 1, max: 4 }) });

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase(silentLog, await tablesHere());
});
afterAll(() => database[Symbol.asyncDispose]());

/** A shop with its customers, and which of them may be over the limit. */
class Shop {
  readonly fake = new FakeProvider();
  readonly buyers: readonly string[];
  readonly orders = new Map<string, Order[]>();

  constructor(buyers: readonly string[]) {
    this.buyers = buyers;
  }

  host(max: number): PaymentHost {
    const plans = [
      { days: 1, price: 1_000, max_active: 2 },
      { days: 7, price: 5_000 },
    ];
    return createPaymentHost(database, [this.fake.provider], {
      plans,
      sales: { max_active: max },
      payments: { provider: 'fake', max_open_orders: 100, gifts: true },
    });
  }

  async take({ kind, account, days }: Step, host: PaymentHost): Promise<void> {
    const id = this.buyers[account] ?? '';
    const order = this.orders.get(id)?.at(-1);
    try {
      if (kind === 'buy' || kind === 'buy a gift') {
        const made = await startOrder(host, id, days, { isGift: kind === 'buy a gift' });
        this.orders.set(id, [...(this.orders.get(id) ?? []), made]);
      } else if (kind === 'redeem') await this.redeem(id, account);
      else if (kind === 'grant') await grantDays(database, id, { days: 1 });
      else if (kind === 'end')
        await database.fork().transactional((transaction) => revokeDays(transaction, id, 365, 'property'));
      else if (kind === 'join') await joinWaitingList(host, id, days);
      else if (kind === 'leave') await leaveWaitingList(host, id);
      else if (kind === 'lapse')
        await database.query(
          'update waiting_entry set reserved_until = clock_timestamp() where account_id = ? and reserved_until is not null',
          [id],
        );
      else if (order === undefined) return;
      else if (kind === 'cancel') await cancelOrder(host, order.id);
      else if (kind === 'recharge') await renewCharge(host, order.id);
      else await this.settle(order, kind === 'pay' ? 'paid' : 'expired');
    } catch (error) {
      if (!(error instanceof CheckoutError)) throw error;
    }
  }

  /** Anybody's gift. */
  async redeem(accountId: string, pick: number): Promise<void> {
    const gifts = [...this.orders.values()].flat().filter(({ isGift }) => isGift);
    const gift = gifts[pick % Math.max(1, gifts.length)];
    const paid = gift && (await readOrder(database, { id: gift.id }));
    const code = paid && (await readGiftCode(database, paid));
    if (code === undefined) return;
    await redeemCode(database, accountId, code.written).catch((error: unknown) => {
      if ((error as Error).name !== 'VoucherError') throw error;
    });
  }

  async settle(order: Order, state: 'paid' | 'expired'): Promise<void> {
    const paid = state === 'paid' ? { paid: { amount: order.price, currency: 'IDR' }, paymentId: order.code } : {};
    const providerReference = order.attempt?.providerReference;
    await settle(this.host(1), 'fake', { reference: referenceOf(order), providerReference, state, raw: null, ...paid });
  }

  /** Accounts and gifts with a place: all, or under the limit of the plan of a day. */
  async held(days?: number): Promise<Set<string>> {
    const orders = [...this.orders.values()].flat().map(({ id }) => id);
    const rows = await database.query<{ holder: string }>(
      `select distinct holder from ${heldPlaces} h where holder in (?) and (?::integer is null or days = ?::integer)`,
      [[...this.buyers, ...orders], days ?? null, days ?? null],
    );
    return new Set(rows.map(({ holder }) => holder));
  }

  /** Accounts with days from an order that was paid after it had ended, or from the operator; gifts that were paid so. */
  async mayExceed(): Promise<Set<string>> {
    const rows = await database.query<{ holder: string }>(
      `select p.account_id as holder from plan_period p left join plan_order o on o.id = p.order_id
       where p.account_id in (?) and (p.reason = 'grant' or o.is_late)
       union select id from plan_order where account_id in (?) and is_gift and is_late`,
      [this.buyers, this.buyers],
    );
    return new Set(rows.map(({ holder }) => holder));
  }
}

it(
  'places never exceed the limit but by late money and added days, whatever buyers do at once on two instances',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 6 }), async (batches) => {
        // Other runs hold no places.
        await database.query('update account set deleted_at = clock_timestamp()');
        await database.query("update plan_order set state = 'cancelled' where state in ('created', 'pending')");
        await database.query('update voucher set revoked_at = clock_timestamp() where redeemed_at is null');
        const shop = new Shop(await Promise.all(Array.from({ length: accounts }, () => createBuyer(database))));
        let allowed = 0;
        for (const { steps, max } of batches) {
          // A lower limit takes no place back.
          allowed = Math.max(max, Math.min(allowed, (await shop.held()).size));
          const hosts = [shop.host(max), shop.host(max)] as const;
          const work = steps.map((one, index) => shop.take(one, hosts[index % 2 === 0 ? 0 : 1]));
          await Promise.all([...work, reserveFreePlaces(hosts[0]), reserveFreePlaces(hosts[1])]);
          const exempt = await shop.mayExceed();
          const count = async (days?: number) => [...(await shop.held(days))].filter((id) => !exempt.has(id)).length;
          expect(await count()).toBeLessThanOrEqual(allowed);
          expect(await count(1)).toBeLessThanOrEqual(2);
          const [all] = await countPlaces(hosts[0]);
          expect(all?.held).toBe((await shop.held()).size);
        }
        await expectHonoured(shop);
      }),
      { numRuns: runs, endOnFailure: runs < 100 },
    );
  },
  Math.max(60_000, runs * 3_000),
);

/** Each payment has activated its order once, and each place was mailed once. */
async function expectHonoured({ buyers }: Shop): Promise<void> {
  const [wrong] = await database.query<{ orders: number; mails: number }>(
    `select (select count(*) from payment y join plan_order o on o.id = y.order_id where o.account_id in (?)
         and y.outcome = 'activated' and (case when o.is_gift then (select count(*) from voucher v where v.order_id = o.id)
           else (select count(*) from plan_period p where p.order_id = o.id and p.reason = 'order') end) <> 1
       )::int as orders,
       (select count(*) from waiting_entry e where e.account_id in (?) and (e.reserved_until is not null) <> (
         select count(*) = 1 from account_event v where v.dedupe_key = 'place.reserved:' || e.id))::int as mails`,
    [buyers, buyers],
  );
  expect(wrong).toEqual({ orders: 0, mails: 0 });
}
