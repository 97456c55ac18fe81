import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startOrder } from '#core/business/payments/checkout.ts';
import { listOpenFlags } from '#core/business/payments/flags.ts';
import { sumMovements } from '#core/business/payments/movements.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { PaymentError, type StatedMovement } from '#core/business/payments/payment-provider.ts';
import { refundPayment } from '#core/business/payments/refunds.ts';
import { readRevenue } from '#core/business/payments/revenue.ts';
import { settle } from '#core/business/payments/settle.ts';
import type { Database } from '#core/platform/database/database.ts';
import { readMonth } from '../../../plugins/books/monthly-books.ts';
import { listProviders, reconcile, type Reconciliation } from '../../../plugins/books/reconcile.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import { createBuyer, createPaymentHost, type PaymentHost, referenceOf } from '../../core/business/payments/fixture.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Database;
let fake: FakeProvider;
let host: PaymentHost;
let number = 0;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(() => {
  // Each test has its own provider, so that the books of others are not in its day.
  fake = new FakeProvider(`fake${++number}`);
  fake.listsRefunds = true;
  host = createPaymentHost(database, [fake.provider]);
});

const hour = 3_600_000;
const span = () => ({ since: new Date(Date.now() - 12 * hour), until: new Date(Date.now() + hour) });
const compare = (within = span()): Promise<Reconciliation> => reconcile(host, fake.name, within, 'IDR');
const order = async (days = 7) => startOrder(host, await createBuyer(database), days);
const settleNow = (one: Order, paymentId?: string) => {
  const evidence = fake.evidence(referenceOf(one), paymentId);
  const charge = fake.charges.get(referenceOf(one));
  return settle(host, fake.name, { ...evidence, ...(charge && { paidAt: charge.paidAt }) });
};
const buy = async (days = 7) => {
  const made = await order(days);
  fake.pay(referenceOf(made));
  await settleNow(made);
  return reread(made);
};
const reread = async ({ id }: Order) => (await readOrder(database, { id })) as Order;
const openFlags = async (one: Order) =>
  (await reread(one)).flags.filter(({ resolvedAt }) => resolvedAt === undefined).map(({ kind }) => kind);
const byProvider = { reason: 'asked for', isManual: false };

const detailOf = ({ kind, amount, currency, reference, at }: StatedMovement) => {
  return { kind, amount, currency, reference, at: at.toISOString() };
};

describe('the books of a provider with a list', () => {
  it('equal ours, over all its pages, with fees and totals', async () => {
    const [first, second] = [await buy(), await buy(1)];
    for (let more = 0; more < 5; more++) await buy(1);
    await refundPayment(host, first.payments[0]?.id ?? '', { ...byProvider, amount: 30_000 });
    fake.listMoney();
    const found = await compare();
    expect(found).toMatchObject({ isList: true, differences: [], unread: 0 });
    const amount = 95_000 + 6 * 18_000;
    const totals = {
      payments: { count: 7, amount },
      refunds: { count: 1, amount: 30_000 },
      fees: 665 + 6 * 126,
    };
    expect([found.here, found.stated]).toEqual([totals, totals]);
    expect((await reread(second)).payments).toMatchObject([{ fee: 126 }]);
    const [row] = await database.query<{ open: number }>(
      `select count(*)::int as open from payment where provider = ? and reconciled_at is null`,
      [fake.name],
    );
    expect(row?.open).toBe(0);
  });

  it('have a payment whose notification was lost: it is settled, and is no difference', async () => {
    const lost = await order();
    fake.pay(referenceOf(lost));
    fake.listMoney();
    expect((await compare()).differences).toEqual([]);
    expect((await reread(lost)).state).toBe('paid');
  });

  it('show a second payment that was not recorded', async () => {
    const bought = await buy();
    fake.payAgain(referenceOf(bought));
    fake.listMoney();
    expect((await compare()).differences).toEqual([]);
    expect((await reread(bought)).payments.map(({ outcome }) => outcome)).toEqual(['activated', 'second']);
  });

  it('have money of no order, which is flagged once, and is no event twice', async () => {
    const foreign: StatedMovement = {
      kind: 'payment',
      id: `QRIS-${fake.name}`,
      reference: 'ANOTHER-SHOP-1',
      amount: 12_345,
      currency: 'IDR',
      at: new Date(),
    };
    fake.listMoney([foreign]);
    for (let times = 0; times < 2; times++)
      expect((await compare()).differences).toMatchObject([{ side: 'provider', id: foreign.id, amount: 12_345 }]);
    const { flags } = await listOpenFlags(database, 1_000);
    expect(flags.filter(({ subject }) => subject.endsWith(foreign.id))).toMatchObject([
      { kind: 'not_in_books', order: undefined, money: { amount: 12_345, currency: 'IDR' } },
    ]);
    expect(
      await database.query('select detail from order_flag where subject = ?', [`${fake.name}/${foreign.id}`]),
    ).toEqual([{ detail: { ...detailOf(foreign), provider: fake.name } }]);
    const events = await database.query(
      `select 1 from account_event where name = 'payment.unknown' and payload ->> 'provider' = ?`,
      [fake.name],
    );
    expect(events).toHaveLength(1);
  });

  it('close the flag of money that they list no more, and open it again with the money', async () => {
    const foreign = {
      kind: 'payment',
      id: `gone-${fake.name}`,
      amount: 77_777,
      currency: 'IDR',
      at: new Date(),
    } as const;
    const isOpen = async () =>
      (await listOpenFlags(database, 1_000)).flags.some(({ subject }) => subject === `${fake.name}/${foreign.id}`);
    const seen: boolean[] = [];
    for (const listed of [[foreign], [], [foreign]]) {
      fake.listMoney(listed);
      // Of other days, it says nothing.
      if (listed.length === 0)
        await compare({ since: new Date(Date.now() - 48 * hour), until: new Date(Date.now() - 24 * hour) });
      seen.push(await isOpen());
      await compare();
      seen.push(await isOpen());
    }
    expect(seen).toEqual([false, true, true, false, false, true]);
  });

  it('lack a payment of ours, until they have it', async () => {
    const bought = await buy();
    fake.connection.listMovements = () => Promise.resolve({ movements: [] });
    expect((await compare()).differences).toMatchObject([{ side: 'here', kind: 'payment', amount: 95_000 }]);
    expect(await openFlags(bought)).toEqual(['not_at_provider']);
    fake.listMoney();
    expect((await compare()).differences).toEqual([]);
    expect(await openFlags(bought)).toEqual([]);
    const isFound = async () => (await sumMovements(database, span())).find((one) => one.provider === fake.name)?.found;
    expect(await isFound()).toBe(1);
    fake.connection.listMovements = () => Promise.resolve({ movements: [] });
    await compare();
    expect(await isFound()).toBe(0);
  });

  it('close no flag about other money than they have, and open one again that they lack again', async () => {
    const [missing] = [await buy(), await buy()];
    const charge = fake.charges.get(referenceOf(missing));
    const paid = charge?.paid;
    const list = (amount: typeof paid) => {
      if (charge !== undefined) charge.paid = amount;
      fake.listMoney([{ kind: 'payment', id: `shop-${fake.name}`, amount: 1, currency: 'IDR', at: new Date() }]);
    };
    const own = async () => {
      const { flags } = await listOpenFlags(database, 1_000);
      return flags.filter(({ subject, order: of }) => subject.endsWith(fake.name) || of?.id === missing.id).length;
    };
    for (const [amount, open] of [
      [undefined, 2],
      [undefined, 2],
      [paid, 1],
      [undefined, 2],
    ] as const) {
      list(amount);
      await compare();
      expect(await own()).toBe(open);
    }
  });

  it('have another amount', async () => {
    const bought = await buy();
    fake.listMoney();
    const charge = fake.charges.get(referenceOf(bought));
    if (charge !== undefined) charge.paid = { amount: 94_000, currency: 'IDR' };
    const found = await compare();
    expect(found.differences).toMatchObject([{ side: 'amount', amount: 95_000, statedAmount: 94_000 }]);
    expect([found.here.payments.amount, found.stated.payments.amount]).toEqual([95_000, 94_000]);
    const [payment] = (await reread(bought)).payments;
    expect([payment?.fee, found.here.fees]).toEqual([found.stated.fees, found.stated.fees]);
    expect(await openFlags(bought)).toEqual(['not_at_provider']);
    const { flags } = await listOpenFlags(database, 1_000);
    expect(flags.find((flag) => flag.order?.id === bought.id)?.money).toEqual({
      kind: 'payment',
      amount: 95_000,
      currency: 'IDR',
      statedAmount: 94_000,
    });
  });

  it('lack a refund of ours, but none that was made by hand', async () => {
    const [one, other] = [await buy(), await buy()];
    await refundPayment(host, one.payments[0]?.id ?? '', byProvider);
    await refundPayment(host, other.payments[0]?.id ?? '', { ...byProvider, isManual: true });
    fake.charges.get(referenceOf(one))?.refunds.clear();
    fake.listMoney();
    expect((await compare()).differences).toMatchObject([{ side: 'here', kind: 'refund', id: `${one.code}-R1` }]);
    expect([await openFlags(one), await openFlags(other)]).toEqual([['not_at_provider'], []]);
    const { flags } = await listOpenFlags(database, 1_000);
    expect(flags.find((flag) => flag.order?.id === one.id)?.money).toMatchObject({ kind: 'refund', amount: 95_000 });
  });

  it('have a refund from the dashboard whose notification was lost', async () => {
    const bought = await buy();
    fake.giveBack(referenceOf(bought), 30_000);
    fake.listMoney();
    const list = fake.connection.listMovements;
    const withCharge = (providerReference: string | undefined) => {
      fake.connection.listMovements = async (...call) => {
        const page = await list?.(...call);
        const movements = page?.movements.map((one) => ({ ...one, reference: undefined, providerReference })) ?? [];
        return { ...page, movements };
      };
    };
    withCharge(undefined);
    expect((await compare()).differences).toMatchObject([{ side: 'provider', kind: 'refund', amount: 30_000 }]);
    const isOwn = ({ subject }: { subject: string }) => subject.startsWith(`${fake.name}/`);
    const flagged = (await listOpenFlags(database, 1_000)).flags.filter(isOwn);
    expect(flagged).toMatchObject([{ order: undefined, money: { kind: 'refund', amount: 30_000 } }]);
    withCharge(fake.charges.get(referenceOf(bought))?.providerReference);
    expect((await compare()).differences).toEqual([]);
    expect((await reread(bought)).refunds).toMatchObject([{ amount: 30_000, state: 'done' }]);
    const { flags } = await listOpenFlags(database, 1_000);
    expect(flags.filter(isOwn)).toEqual([]);
  });

  it('have a movement on the other side of midnight, which is matched there', async () => {
    const bought = await buy();
    fake.listMoney();
    const charge = fake.charges.get(referenceOf(bought));
    const until = new Date(Date.now() + hour);
    if (charge !== undefined) charge.paidAt = new Date(until.getTime() + hour);
    expect((await compare({ since: new Date(until.getTime() - 24 * hour), until })).differences).toEqual([]);
  });

  it('are refused if the list repeats a page', async () => {
    fake.connection.listMovements = () => Promise.resolve({ movements: [], next: 'again' });
    await expect(compare()).rejects.toThrow(PaymentError);
  });
});

describe('the books of a provider without a list', () => {
  it('are the status of each charge, of paid, refunded and open ones', async () => {
    const [bought, open, lost] = [await buy(), await order(), await order()];
    fake.pay(referenceOf(lost));
    fake.giveBack(referenceOf(bought), 30_000);
    for (const charge of fake.charges.values()) charge.paidAt = new Date();
    const evidence = fake.evidence.bind(fake);
    fake.evidence = (reference, id) => ({ ...evidence(reference, id), paidAt: new Date() });
    const found = await compare();
    expect(found).toMatchObject({ isList: false, differences: [], unread: 0 });
    expect(found.stated).toMatchObject({ payments: { count: 2 }, refunds: { count: 1, amount: 30_000 } });
    expect([(await reread(lost)).state, (await reread(open)).state]).toEqual(['paid', 'pending']);
  });

  it('that cannot be read differ from nothing', async () => {
    await buy();
    fake.fail('status', new PaymentError('temporary', 'HTTP 500'));
    expect(await compare()).toMatchObject({ differences: [], unread: 1 });
  });

  it('lack a payment that the provider does not know any more', async () => {
    const bought = await buy();
    fake.charges.delete(referenceOf(bought));
    expect((await compare()).differences).toMatchObject([{ side: 'here', kind: 'payment' }]);
    expect(await openFlags(bought)).toEqual(['not_at_provider']);
  });
});

/** A day, so many days ago. */
const quiet = (days: number) => {
  const since = new Date(Date.now() - days * 24 * hour);
  return { since, until: new Date(since.getTime() + 24 * hour) };
};

describe('providers of a day', () => {
  it('are those with charges in it', async () => {
    await order();
    expect(await listProviders(host, span())).toContain(fake.name);
    expect(await listProviders(host, quiet(20_000))).toEqual([]);
  });

  it('are those with only a payment or a refund in it, of an earlier charge', async () => {
    const bought = await buy();
    await refundPayment(host, bought.payments[0]?.id ?? '', byProvider);
    await database.query(`update payment set paid_at = paid_at - interval '30 days' where order_id = ?`, [bought.id]);
    await database.query(`update refund set finished_at = finished_at - interval '20 days' where order_id = ?`, [
      bought.id,
    ]);
    expect(await listProviders(host, quiet(30.5))).toContain(fake.name);
    expect(await listProviders(host, quiet(20.5))).toContain(fake.name);
    expect(await listProviders(host, quiet(10.5))).not.toContain(fake.name);
  });

  it('are the one that lists its money, on a day without any of ours', async () => {
    fake.listMoney();
    expect(await listProviders(host, quiet(20_000))).toEqual([fake.name]);
  });

  it('are no sandboxes', async () => {
    fake.listMoney();
    await order();
    const sandbox = createPaymentHost(database, [{ ...fake.provider, isSandbox: true }]);
    expect(await listProviders(sandbox, span())).not.toContain(fake.name);
  });
});

/** What came today by UTC, in the document of its month and as revenue. */
const readDay = async () => {
  const [{ day = '', amount = 0 } = {}] = await readRevenue(database, { currency: 'IDR', timeZone: 'UTC', days: 1 });
  const month = await readMonth(database, { month: day.slice(0, 7), timeZone: 'UTC', currency: 'IDR' });
  const { gross = 0, refunded = 0 } = month.find((one) => one.day === day) ?? {};
  return { amount, gross, refunded };
};

it('the document of a month has all that came and went back, of which revenue is what activated, less its refunds', async () => {
  const before = await readDay();
  const bought = await buy();
  await refundPayment(host, bought.payments[0]?.id ?? '', { ...byProvider, isManual: true, amount: 30_000 });
  const { amount, gross, refunded } = await readDay();
  expect([amount - before.amount, gross - before.gross, refunded - before.refunded]).toEqual([65_000, 95_000, 30_000]);
});
