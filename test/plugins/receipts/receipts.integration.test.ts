import { tmpdir } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { exportForOwner } from '#core/business/accounts/owner-export.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { readGiftCode } from '#core/business/payments/gifts.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { refundOrder } from '#core/business/payments/refunds.ts';
import { settle } from '#core/business/payments/settle.ts';
import type { Database } from '#core/platform/database/database.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { coreEntities } from '#core/process/entities.ts';
import { describeReceipt } from '../../../plugins/receipts/describe.ts';
import { numberReceipts } from '../../../plugins/receipts/numbers.ts';
import {
  findReceipts,
  getBuyer,
  listReceiptLines,
  type PaymentReceipt,
  readPaymentReceipt,
} from '../../../plugins/receipts/read.ts';
import type { Seller } from '../../../plugins/receipts/section.ts';
import { readMailedReceipt } from '../../../plugins/receipts/steps.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import { createBuyer, createPaymentHost, type PaymentHost, referenceOf } from '../../core/business/payments/fixture.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';
import { redeemCode } from '../../support/redeem-code.ts';
import { tablesHere } from '../../support/registered.ts';

const ppn = { name: 'PPN', included: true, rate: 12, base: '11/12', rounding: 'nearest' } as const;
const seller: Partial<Seller> = {
  name: 'PT Penjual',
  address: 'Jl. Satu 1\nJakarta',
  npwp: '0012345678901000',
  tax: ppn,
};

let database: Database;
let fake: FakeProvider;
let buyer: string;
beforeAll(async () => {
  database = await createTestDatabase(silentLog, await tablesHere());
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  fake = new FakeProvider();
  buyer = await createBuyer(database);
});

const shopOf = (named: Partial<Seller>, provider = fake.provider) =>
  createPaymentHost(database, [provider], { seller: named, payments: { max_open_orders: 1_000 } });

async function pay(host: PaymentHost, order: Order): Promise<Order> {
  fake.pay(referenceOf(order));
  await settle(host, 'fake', fake.evidence(referenceOf(order)));
  return (await readOrder(database, { id: order.id })) as Order;
}
const buy = async (host: PaymentHost, days = 30) => pay(host, await startOrder(host, buyer, days));

async function receiptOf({ id }: Order) {
  const [row] = await database.query<{ id: string }>(
    `select id from receipt where order_id = ? and kind = 'payment' order by made_at limit 1`,
    [id],
  );
  return row && readPaymentReceipt(database, row.id);
}

describe('a receipt', () => {
  it('says who sold what to whom, with the tax of its day', async () => {
    const order = await buy(shopOf(seller));
    expect(await receiptOf(order)).toMatchObject({
      receipt: {
        code: order.code,
        amount: 289_000,
        tax: 28_640,
        buyer: 'Ani',
        isTest: false,
        number: undefined,
        content: {
          seller: { name: 'PT Penjual', address: 'Jl. Satu 1\nJakarta', npwp: '0012345678901000' },
          tax: { name: 'PPN', rate: 12, base: '11/12' },
          timeZone: 'UTC',
          plan: { days: 30, from: order.period?.startsAt.toISOString() },
          outcome: 'activated',
        },
      },
      refunds: [],
    });
  });

  it('names the same seller whatever gateway.yaml says later, and no statement changes it', async () => {
    const order = await buy(shopOf(seller));
    const other = await buy(shopOf({ ...seller, name: 'CV Lain', tax: 'none' }));
    expect((await receiptOf(order))?.receipt.content.seller.name).toBe('PT Penjual');
    expect((await receiptOf(other))?.receipt).toMatchObject({
      tax: undefined,
      content: { seller: { name: 'CV Lain' } },
    });
    expect((await receiptOf(other))?.receipt.content.seller.npwp).toBeUndefined();
    await expect(database.query(`update receipt set content = '{}' where order_id = ?`, [order.id])).rejects.toThrow(
      'receipts never change',
    );
  });

  it('is stored once, however often its payment is reported', async () => {
    const host = shopOf(seller);
    const order = await buy(host);
    await Promise.all([1, 2, 3].map(() => settle(host, 'fake', fake.evidence(referenceOf(order)))));
    expect(await database.query('select 1 from receipt where order_id = ?', [order.id])).toHaveLength(1);
  });

  it('of a gift belongs to its giver, and the account that redeems the code gets none', async () => {
    const host = createPaymentHost(database, [fake.provider], { seller, payments: { gifts: true } });
    const order = await pay(host, await startOrder(host, buyer, 30, { isGift: true }));
    const taker = await createBuyer(database);
    expect(await redeemCode(database, taker, (await readGiftCode(database, order))?.written ?? '')).toBe(true);
    const rows = await database.query<{ account_id: string }>(
      'select account_id from receipt where account_id in (?, ?)',
      [buyer, taker],
    );
    expect(rows).toEqual([{ account_id: buyer }]);
    const receipt = (await receiptOf(order)) as PaymentReceipt;
    expect(describeReceipt(receipt, { t: String, language: 'en' }).item).toBe('receipts.days, as a gift');
    expect(describeReceipt(receipt, { t: String, language: 'id' }).item).toBe('receipts.days, sebagai hadiah');
    expect(receipt.receipt.content.plan).not.toHaveProperty('from');
  });

  it('is stored for a second payment too, which activated nothing', async () => {
    const host = shopOf(seller);
    const order = await buy(host, 7);
    const again = fake.payAgain(referenceOf(order));
    await settle(host, 'fake', fake.evidence(referenceOf(order), again));
    const rows = await database.query(
      `select content ->> 'outcome' as outcome, amount::float8 as amount from receipt where order_id = ? order by made_at, id`,
      [order.id],
    );
    expect(rows).toEqual([
      { outcome: 'activated', amount: 95_000 },
      { outcome: 'second', amount: 95_000 },
    ]);
  });

  it('is not stored without a seller, and nothing is numbered in a test mode', async () => {
    expect(await receiptOf(await buy(shopOf({})))).toBeUndefined();
    const { connection } = fake;
    const inTest = { ...fake.provider, connect: () => ({ ...connection, isTest: true }) };
    const order = await buy(shopOf(seller, inTest));
    await numberReceipts(database);
    expect((await receiptOf(order))?.receipt).toMatchObject({ isTest: true, number: undefined });
  });

  it('outlives the account, and is in the download of its owner', async () => {
    const order = await buy(shopOf(seller));
    let own = '';
    for await (const line of exportForOwner(database, buyer)) own += line;
    expect(JSON.parse(own)).toMatchObject({ receipt: [{ code: order.code, buyer: 'Ani', amount: 289_000 }] });
    await deleteAccount(database, buyer);
    expect((await receiptOf(order))?.receipt).toMatchObject({ buyer: 'Ani', amount: 289_000 });
  });

  it('lists its refunds, whose tax adds up to its own', async () => {
    const host = shopOf(seller);
    const order = await buy(host);
    await refundOrder(host, order.id, { reason: 'sorry', isManual: true, amount: 100_000, days: 'none' });
    await refundOrder(host, order.id, { reason: 'sorry', isManual: true, amount: 189_000 });
    const found = await receiptOf(order);
    expect(found?.refunds.map(({ amount }) => amount)).toEqual([100_000, 189_000]);
    expect(found?.refunds.reduce((sum, { tax = 0 }) => sum + tax, 0)).toBe(28_640);
    expect(found?.receipt.content.taxBase).toBe(238_663);
    expect(found?.refunds.reduce((sum, { content }) => sum + (content.taxBase ?? 0), 0)).toBe(238_663);
  });
});

const numbersOf = async (kind: 'payment' | 'refund') => {
  const rows = await database.query<{ number: number }>(
    'select number::float8 as number from receipt where kind = ? and number is not null order by number',
    [kind],
  );
  return rows.map(({ number }) => number);
};
const running = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('numbers', () => {
  it('run in the order of the payments, without gaps, with a series for refunds', async () => {
    const host = shopOf(seller);
    const orders = [await buy(host, 1), await buy(host, 1), await buy(host, 1)];
    // The first was paid last.
    await database.query('alter table receipt disable trigger receipt_kept');
    await database.query(`update receipt set made_at = clock_timestamp() where order_id = ?`, [orders[0]?.id]);
    await database.query('alter table receipt enable trigger receipt_kept');
    const [late, ...others] = orders;
    await refundOrder(host, late?.id ?? '', { reason: 'sorry', isManual: true });
    await numberReceipts(database);
    const numberOf = async (order: Order | undefined) => (await receiptOf(order as Order))?.receipt.number ?? 0;
    expect(await numberOf(others[0])).toBeLessThan(await numberOf(others[1]));
    expect(await numberOf(others[1])).toBeLessThan(await numberOf(late));
    expect((await receiptOf(late as Order))?.refunds[0]?.number).toBeGreaterThan(0);
    const mailed = await readMailedReceipt(host, late?.payments[0]?.id ?? '', `${late?.code}-R1`);
    const { receipt, refunds } = (await receiptOf(late as Order)) ?? {};
    expect(mailed).toMatchObject({
      number: String(receipt?.number).padStart(6, '0'),
      refundNumber: `R-${String(refunds?.[0]?.number).padStart(6, '0')}`,
    });
    expect(await numbersOf('payment')).toEqual(running((await numbersOf('payment')).length));
    expect(await numbersOf('refund')).toEqual(running((await numbersOf('refund')).length));
  });

  it('have neither gaps nor duplicates if two instances assign them and are killed meanwhile', async () => {
    const tables = await tablesHere();
    const open = () =>
      openDatabase({
        entities: coreEntities,
        tables,
        url: database.url,
        dataFolder: tmpdir(),
        log: silentLog,
        mode: 'command',
        isShared: true,
      });
    await using one = await open();
    await using other = await open();
    const total = 4_000;
    await database.query(
      `insert into receipt (id, kind, payment_id, order_id, account_id, code, made_at, currency, amount, buyer, content, is_test)
       select gen_random_uuid(), 'payment', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'ORD-' || n,
         clock_timestamp() + n * interval '1 ms', 'IDR', 18000, 'Load', '{"outcome": "activated", "seller": {"name": "Load"}}', false
       from generate_series(1, ?) n`,
      [total],
    );
    let kills = 0;
    const isDone = async () =>
      (await database.query('select 1 from receipt where number is null and not is_test limit 1')).length === 0;
    const work = async (instance: Database) => {
      while (!(await isDone())) await numberReceipts(instance).catch(() => (kills += 1));
    };
    const isKilledEnough = () => kills >= 3;
    const killer = async () => {
      for (let tries = 0; tries < 400 && !(await isDone()) && !isKilledEnough(); tries++)
        await database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and query like '%receipt_series%'`,
        );
    };
    await Promise.all([work(one), work(other), killer()]);
    const numbers = await numbersOf('payment');
    expect(numbers).toEqual(running(numbers.length));
    expect(numbers.length).toBeGreaterThanOrEqual(total);
    expect(kills).toBeGreaterThan(0);
  });
});

it('lines of the books are numbered, and add up to payments and refunds', async () => {
  const host = shopOf(seller);
  const since = new Date();
  const order = await buy(host);
  await refundOrder(host, order.id, { reason: 'sorry', isManual: true, amount: 89_000, days: 'none' });
  await numberReceipts(database);
  const lines =
    (await listReceiptLines(database, { since, until: new Date(Date.now() + 1_000), currency: 'IDR' })) ?? [];
  expect(lines.filter(({ code }) => code === order.code)).toMatchObject([
    {
      kind: 'payment',
      gross: 289_000,
      withoutTax: 260_360,
      tax: 28_640,
      taxBase: 238_663,
      refundOf: undefined,
      buyer: 'Ani',
    },
    { kind: 'refund', gross: 89_000, refundOf: lines.find(({ code }) => code === order.code)?.number },
  ]);
});

it('a company that is added after a refund is the buyer of both, in the books and for operators', async () => {
  const host = shopOf(seller);
  const since = new Date();
  const order = await buy(host);
  await refundOrder(host, order.id, { reason: 'sorry', isManual: true });
  await database.query(
    `update receipt set added_company = 'PT Pembeli', added_npwp = '0012345678901000', added_at = clock_timestamp()
     where order_id = ? and kind = 'payment'`,
    [order.id],
  );
  const lines =
    (await listReceiptLines(database, { since, until: new Date(Date.now() + 1_000), currency: 'IDR' })) ?? [];
  const buyersOf = (kind: string) =>
    lines.filter((line) => line.code === order.code && line.kind === kind).map(({ buyer: name, npwp }) => [name, npwp]);
  expect(buyersOf('refund')).toEqual([['PT Pembeli', '0012345678901000']]);
  expect(buyersOf('payment')).toEqual(buyersOf('refund'));
  expect((await findReceipts(database, { words: order.code }, 10)).map((one) => getBuyer(one).name)).toEqual([
    'PT Pembeli',
    'PT Pembeli',
  ]);
});
