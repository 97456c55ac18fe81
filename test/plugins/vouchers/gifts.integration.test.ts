import { tmpdir } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listLedger } from '#core/business/accounts/ledger-entries.ts';
import { exportForOwner } from '#core/business/accounts/owner-export.ts';
import { readRefundedEnd } from '#core/business/accounts/plan-end.ts';
import { renewCharge, startOrder } from '#core/business/payments/checkout.ts';
import { readGiftCode } from '#core/business/payments/gifts.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { refundOrder } from '#core/business/payments/refunds.ts';
import { settle } from '#core/business/payments/settle.ts';
import type { Database } from '#core/platform/database/database.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { coreEntities } from '#core/process/entities.ts';
import {
  findVouchers,
  iterateVouchers,
  listRedemptionsByDay,
  revokeVouchers,
} from '../../../plugins/vouchers/voucher-batches.ts';
import { redeemVoucher } from '../../../plugins/vouchers/vouchers.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import {
  createBuyer,
  createPaymentHost,
  type PaymentHost,
  referenceOf,
  timeHeld,
} from '../../core/business/payments/fixture.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';
import { registeredHere, tablesHere } from '../../support/registered.ts';

const week = 7 * 86_400;

let database: Database;
let fake: FakeProvider;
let host: PaymentHost;
let buyer: string;
let friend: string;
beforeAll(async () => {
  database = await createTestDatabase(silentLog, await tablesHere());
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  fake = new FakeProvider();
  host = createPaymentHost(database, [fake.provider], { payments: { gifts: true } });
  [buyer, friend] = await Promise.all([createBuyer(database), createBuyer(database)]);
});

const read = async ({ id }: Order) => (await readOrder(database, { id })) as Order;
const secondsOf = async (accountId: string) => Math.round((await timeHeld(database, accountId)).seconds);

async function pay(order: Order): Promise<Order> {
  fake.pay(referenceOf(order));
  await settle(host, 'fake', fake.evidence(referenceOf(order)));
  return read(order);
}

const give = async () => pay(await startOrder(host, buyer, 7, { isGift: true }));
const codeOf = async (order: Order) => (await readGiftCode(database, await read(order)))?.written as string;
const redeem = (accountId: string, code: string, instance = database) =>
  redeemVoucher({ database: instance, shared: new MemoryShared() }, accountId, code, '192.0.2.1');
const refund = (order: Order, days?: 'whole' | 'unused' | 'none') =>
  refundOrder(host, order.id, { reason: 'test', isManual: true, days });
const revoke = async (handle: string) => revokeVouchers(database, (await findVouchers(database, handle)).id);
const setExpiry = (order: Order, time: string) =>
  database.query(`update voucher set expires_at = ${time} where order_id = ?`, [order.id]);

describe('a gift', () => {
  it('gives the buyer a code and no days, and the days to the account that redeems it', async () => {
    const order = await give();
    expect([order.state, order.gift?.state, order.period, await secondsOf(buyer)]).toEqual([
      'paid',
      'open',
      undefined,
      0,
    ]);
    expect(await redeem(friend, await codeOf(order))).toMatchObject({ days: 7, isNew: true });
    expect([await secondsOf(buyer), await secondsOf(friend)]).toEqual([0, week]);
    const gift = (await read(order)).gift;
    expect(gift).toMatchObject({ state: 'redeemed', redeemedBy: friend });
    expect(gift?.redeemedAt?.getTime()).toBeCloseTo(Date.now(), -5);
  });

  it('has a reason of its own in the ledger, with name and limits of the plan as it was sold', async () => {
    const order = await give();
    await redeem(friend, await codeOf(order));
    const [entry, ...others] = await listLedger(database, friend);
    expect(entry).toMatchObject({ reason: 'gift', days: 7, label: 'week', orderId: order.id });
    expect(others).toEqual([]);
    const [row] = await database.query('select limits from plan_period where account_id = ?', [friend]);
    expect(row).toEqual({ limits: { limit: 5 } });
  });

  it('has no code before it is paid, one that any number of notices do not change, and none once it is redeemed', async () => {
    const order = await startOrder(host, buyer, 7, { isGift: true });
    expect(await codeOf(order)).toBeUndefined();
    await pay(order);
    const code = await codeOf(order);
    expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
    const again = { ...fake.evidence(referenceOf(order)) };
    await Promise.all([1, 2, 3].map(() => settle(host, 'fake', again)));
    expect(await codeOf(order)).toBe(code);
    await redeem(friend, code);
    expect(await codeOf(order)).toBeUndefined();
  });

  it('is in the database only as a digest, and as another code for each order', async () => {
    const [one, other] = [await give(), await give()];
    const codes = [await codeOf(one), await codeOf(other)];
    expect(new Set(codes).size).toBe(2);
    const rows = await database.query<{ text: string }>(
      'select v::text || o::text as text from voucher v, plan_order o',
    );
    expect(rows.some(({ text }) => codes.some((code) => text.includes(code.replaceAll('-', ''))))).toBe(false);
  });

  it('can be redeemed, but not shown, after the secret of its code was replaced', async () => {
    const order = await give();
    const code = await codeOf(order);
    await database.query(`delete from secret where name = 'gift-code'`);
    expect(await codeOf(order)).toBeUndefined();
    expect(await codeOf(await give())).toBeDefined();
    expect(await redeem(friend, code)).toMatchObject({ isNew: true });
  });

  it('cannot be redeemed once a year has passed', async () => {
    const order = await give();
    const code = await codeOf(order);
    expect(order.gift?.expiresAt.getTime()).toBeCloseTo(Date.now() + 365 * 86_400_000, -5);
    await setExpiry(order, 'clock_timestamp()');
    await expect(redeem(friend, code)).rejects.toMatchObject({ kind: 'unusable' });
    expect((await read(order)).gift?.state).toBe('expired');
  });

  it('counts no days of the buyer, who may hold a year besides', async () => {
    for (const days of [200, 30, 30, 30, 30, 30]) await pay(await startOrder(host, buyer, days));
    await expect(startOrder(host, buyer, 30)).rejects.toMatchObject({ kind: 'too_many_days' });
    expect((await startOrder(host, buyer, 30, { isGift: true })).isGift).toBe(true);
    expect((await startOrder(host, buyer, 7)).isGift).toBe(false);
  });

  it('is one order from two tabs, apart from an order of the same plan for oneself', async () => {
    const [one, other, own] = [
      await startOrder(host, buyer, 7, { isGift: true }),
      await startOrder(host, buyer, 7, { isGift: true }),
      await startOrder(host, buyer, 7),
    ];
    expect([one.id === other.id, one.id === own.id]).toEqual([true, false]);
  });

  it('is not sold where gifts are off', async () => {
    const off = createPaymentHost(database, [fake.provider]);
    await expect(startOrder(off, buyer, 7, { isGift: true })).rejects.toMatchObject({ kind: 'no_gifts' });
  });

  it('names neither side to the other in the exported data of buyer and recipient', async () => {
    const order = await give();
    await redeem(friend, await codeOf(order));
    const [ofBuyer, ofFriend] = await Promise.all([buyer, friend].map(ownDataOf));
    expect(ofBuyer).toContain('"gift_redeemed_at":"2');
    expect(ofBuyer).not.toContain(friend);
    for (const word of [buyer, order.id, order.code]) expect(ofFriend).not.toContain(word);
  });
});

async function ownDataOf(accountId: string): Promise<string> {
  let text = '';
  for await (const line of exportForOwner(database, accountId)) text += line;
  return text;
}

describe('a refund of a gift', () => {
  it('withdraws an unredeemed code', async () => {
    const order = await give();
    const code = await codeOf(order);
    await refund(order);
    expect(await read(order)).toMatchObject({ state: 'refunded', gift: { state: 'revoked' } });
    await expect(redeem(friend, code)).rejects.toMatchObject({ kind: 'unusable' });
  });

  it.each(['unused', 'whole'] as const)('takes the days back from who has redeemed it: %s', async (days) => {
    const order = await give();
    await redeem(friend, await codeOf(order));
    await pay(await startOrder(host, friend, 1));
    await refund(order, days);
    // What has been used of the gift comes off the other day with `whole` only.
    expect(Math.abs((await secondsOf(friend)) - 86_400)).toBeLessThan(60);
    expect((await read(order)).gift).toMatchObject({ state: 'redeemed', redeemedBy: friend });
  });

  it.each(['unused', 'whole'] as const)('is known as what ended the days of its receiver: %s', async (days) => {
    const order = await give();
    await redeem(friend, await codeOf(order));
    await refund(order, days);
    expect(await readRefundedEnd(database, friend)).toBe('gift');
    const own = await pay(await startOrder(host, buyer, 1));
    expect(await readRefundedEnd(database, buyer)).toBeUndefined();
    await refund(own, days);
    expect(await readRefundedEnd(database, buyer)).toBe('order');
  });

  it('that leaves the days leaves the code, too', async () => {
    const order = await give();
    const code = await codeOf(order);
    await refund(order, 'none');
    expect(await redeem(friend, code)).toMatchObject({ isNew: true });
    expect(await secondsOf(friend)).toBe(week);
  });

  it('and a redemption at the same time: either the code is withdrawn, or the days are taken back', async () => {
    const orders = [];
    for (let index = 0; index < 6; index++) orders.push(await give());
    const codes = await Promise.all(orders.map(codeOf));
    await Promise.all(
      orders.flatMap((order, index) => [
        refund(order),
        redeem(friend, codes[index] ?? '').catch((error: { kind?: string }) => expect(error.kind).toBe('unusable')),
      ]),
    );
    expect(await secondsOf(friend)).toBeLessThan(60);
  });
});

const limited = (max: number) =>
  createPaymentHost(database, [fake.provider], { sales: { max_active: max }, payments: { gifts: true } });

async function heldBy(kind: 'gift' | 'ordered' | 'bought' | 'late'): Promise<number> {
  const sales = (await registeredHere()).operatorReadings.get('/sales');
  const report = (await sales?.read(limited(9), '', new URLSearchParams())) as {
    readonly places: readonly { readonly byKind: Readonly<Record<string, number>> }[];
  };
  return report.places[0]?.byKind[kind] ?? 0;
}

describe('places', () => {
  beforeEach(async () => {
    await database.query('update account set deleted_at = clock_timestamp() where id not in (?)', [[buyer, friend]]);
    await database.query(`update plan_order set state = 'cancelled' where state in ('created', 'pending')`);
    await database.query(
      'update voucher set revoked_at = clock_timestamp() where redeemed_at is null and revoked_at is null',
    );
  });

  it('are taken by a gift when it is bought, whatever its buyer holds, and pass to who redeems it', async () => {
    const shop = limited(2);
    await pay(await startOrder(shop, buyer, 7));
    const order = await startOrder(shop, buyer, 7, { isGift: true });
    expect([await heldBy('bought'), await heldBy('ordered')]).toEqual([1, 1]);
    await pay(order);
    expect([await heldBy('bought'), await heldBy('gift')]).toEqual([1, 1]);
    await expect(startOrder(shop, buyer, 1, { isGift: true })).rejects.toMatchObject({ kind: 'sold_out' });
    await expect(startOrder(shop, friend, 1)).rejects.toMatchObject({ kind: 'sold_out' });
    await redeem(friend, await codeOf(order));
    expect([await heldBy('bought'), await heldBy('gift')]).toEqual([2, 0]);
  });

  it('pass to one of eight accounts that redeem a gift at once on two instances', async () => {
    const shop = limited(1);
    const order = await pay(await startOrder(shop, buyer, 7, { isGift: true }));
    const accounts = await Promise.all(Array.from({ length: 8 }, () => createBuyer(database)));
    const code = await codeOf(order);
    await using other = await openDatabase({
      url: database.url,
      dataFolder: tmpdir(),
      log: silentLog,
      mode: 'command',
      isShared: true,
      entities: coreEntities,
      tables: await tablesHere(),
    });
    const results = await Promise.allSettled(
      accounts.map((account, index) => redeem(account, code, index % 2 === 0 ? database : other)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const held = await Promise.all(accounts.map(secondsOf));
    expect(held.filter((seconds) => seconds > 0)).toEqual([week]);
    expect([await heldBy('bought'), await heldBy('gift')]).toEqual([1, 0]);
    await expect(startOrder(shop, buyer, 1)).rejects.toMatchObject({ kind: 'sold_out' });
  });

  it('are free again when a gift expires, is withdrawn, or is redeemed by one who has a pass', async () => {
    const orders = [await give(), await give(), await give()];
    expect(await heldBy('gift')).toBe(3);
    await setExpiry(orders[0] as Order, 'clock_timestamp()');
    await refund(orders[1] as Order);
    await pay(await startOrder(host, friend, 1));
    await redeem(friend, await codeOf(orders[2] as Order));
    expect([await heldBy('gift'), await heldBy('bought')]).toEqual([0, 1]);
  });

  it('are exceeded by a gift that was paid late, which is honoured and counted as such', async () => {
    const shop = limited(1);
    const order = await startOrder(shop, buyer, 7, { isGift: true });
    await database.query(`update plan_order set state = 'expired' where id = ?`, [order.id]);
    await pay(await startOrder(shop, friend, 7));
    await expect(renewCharge(shop, order.id)).rejects.toMatchObject({ kind: 'sold_out' });
    expect((await pay(order)).gift?.state).toBe('open');
    expect(await heldBy('late')).toBe(1);
  });
});

describe('the operator', () => {
  it('withdraws a gift by its order, and finds it among the vouchers', async () => {
    const order = await give();
    const code = await codeOf(order);
    expect(await revoke(order.code.toLowerCase())).toBe(1);
    await expect(redeem(friend, code)).rejects.toMatchObject({ kind: 'unusable' });
    await expect(revoke('ORD-00000000')).rejects.toMatchObject({ kind: 'not_found' });
    const listed = [];
    for await (const one of iterateVouchers(database, undefined)) if (one.note === order.code) listed.push(one);
    expect(listed).toMatchObject([
      { batchId: undefined, days: 7, source: 'gift', state: 'revoked', hint: code.slice(-4) },
    ]);
  });

  it('has its days in the books of vouchers on the day of the redemption', async () => {
    const month = new Date().toISOString().slice(0, 7);
    const giftsOf = async () =>
      (await listRedemptionsByDay(database, month, 'UTC')).filter(({ source }) => source === 'gift');
    const sum = (days: Awaited<ReturnType<typeof giftsOf>>) => days.reduce((total, one) => total + one.days, 0);
    const before = sum(await giftsOf());
    const order = await give();
    expect(sum(await giftsOf())).toBe(before);
    await redeem(friend, await codeOf(order));
    expect(sum(await giftsOf())).toBe(before + 7);
  });
});
