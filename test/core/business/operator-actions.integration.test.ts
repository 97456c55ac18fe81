import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { findAffected, grantForOutage } from '#core/business/accounts/outage-grant.ts';
import { actionKind, actionKinds, commandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { listOrders, readOrder } from '#core/business/payments/order.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../support/database.ts';
import { FakeProvider } from './payments/fake-provider.ts';
import { createBuyer, createPaymentHost, referenceOf } from './payments/fixture.ts';

let database: Database;
let fake: FakeProvider;
let host: Host;
beforeAll(async () => {
  database = await createTestDatabase();
  fake = new FakeProvider();
  host = createPaymentHost(database, [fake.provider]);
});
afterAll(() => database[Symbol.asyncDispose]());

const run = (name: Parameters<typeof actionKind>[0], handle: string, input: object = {}) =>
  runAction(host, commandOperator(), actionKind(name), handle, input);
const record = async (subject: string) => (await listActions(database, { subject, limit: 1 }))[0];

describe('an action of an operator', () => {
  it('is recorded with who, why and what came of it', async () => {
    const { accountId } = await createAccount(database, 'dp', { name: 'Ani', email: 'ani@example.com' });
    await run('account.note', 'ani@example.com', { note: 'promised a call' });
    expect(await record(accountId)).toMatchObject({
      action: 'account.note',
      operator: expect.stringMatching(/^command \(.+\)$/),
      note: 'promised a call',
      outcome: 'done',
    });
  });

  it('that fails is recorded as failed, with the reason', async () => {
    const { accountId } = await createAccount(database, 'dp', { name: 'Budi' });
    await expect(run('account.remove_sign_in', accountId, { sign_in: 'google', note: 'lost' })).rejects.toMatchObject({
      kind: 'not_found',
    });
    expect(await record(accountId)).toMatchObject({
      outcome: 'failed',
      note: 'sign_in: google, lost',
      error: 'The account has no sign-in with google.',
    });
  });

  it.each(['', 'nobody', 'a@b@c', 'Ani <ani@example.com>', 'a@example.com, b@example.com'])(
    'does not make %o the address of an account',
    async (to) => {
      const email = `${crypto.randomUUID()}@example.com`;
      const { accountId } = await createAccount(database, 'dp', { name: 'Dewi', email });
      const call = run('account.change_email', accountId, { to, note: 'asked by chat' });
      await expect(call).rejects.toMatchObject({ kind: 'email_invalid' });
      expect((await findAccount(database, accountId)).email).toBe(email);
    },
  );

  it('adds and takes days', async () => {
    const { accountId } = await createAccount(database, 'dp', { name: 'Citra' });
    await run('account.add_days', accountId, { days: 3, note: 'outage' });
    await run('account.add_days', accountId, { days: -1, note: 'two were meant' });
    const end = (await findAccount(database, accountId)).periods.at(-1)?.endsAt.getTime() ?? 0;
    expect(Math.round((end - Date.now()) / 86_400_000)).toBe(2);
  });

  it('asks the provider about an order at once, however recent the last check is', async () => {
    const order = await startOrder(host, await createBuyer(database), 7);
    await run('order.check', order.code);
    fake.pay(referenceOf(order));
    await run('order.check', order.code);
    expect((await readOrder(database, { id: order.id }))?.state).toBe('paid');
  });

  it('finds a refund that was made at the provider, of an order that is paid', async () => {
    const order = await startOrder(host, await createBuyer(database), 7);
    fake.pay(referenceOf(order));
    await run('order.check', order.code);
    fake.end(referenceOf(order), 'refunded');
    await run('order.check', order.code);
    expect((await readOrder(database, { id: order.id }))?.state).toBe('refunded');
  });

  it('tells when the provider cannot be asked about a paid order', async () => {
    const order = await startOrder(host, await createBuyer(database), 7);
    fake.pay(referenceOf(order));
    await run('order.check', order.code);
    fake.fail('status');
    await expect(run('order.check', order.code)).rejects.toMatchObject({ kind: 'no_answer' });
    fake.failures.clear();
    expect((await record(order.id))?.outcome).toBe('failed');
  });

  it('cancels an open order, and refuses to cancel a paid one', async () => {
    const open = await startOrder(host, await createBuyer(database), 7);
    await run('order.cancel', open.code, { note: 'asked by chat' });
    expect((await readOrder(database, { id: open.id }))?.state).toBe('cancelled');
    const paid = await startOrder(host, await createBuyer(database), 7);
    fake.pay(referenceOf(paid));
    await run('order.check', paid.code);
    await expect(run('order.cancel', paid.code, { note: 'asked by chat' })).rejects.toMatchObject({ kind: 'not_open' });
  });

  it('refunds one payment, and none of another order', async () => {
    const [one, other] = [
      await startOrder(host, await createBuyer(database), 7),
      await startOrder(host, await createBuyer(database), 7),
    ];
    for (const order of [one, other]) {
      fake.pay(referenceOf(order));
      await run('order.check', order.code);
    }
    const payment = (await readOrder(database, { id: other.id }))?.payments[0]?.id;
    await expect(run('order.refund', one.code, { payment, note: 'wrong one' })).rejects.toMatchObject({
      kind: 'not_found',
    });
    await run('order.refund', other.code, { payment, manual: true, note: 'paid back' });
    expect((await readOrder(database, { id: other.id }))?.state).toBe('refunded');
  });
});

describe('an outage', () => {
  it('is made good to those who had paid time in it, once', async () => {
    const [hit, other] = [await createBuyer(database), await createBuyer(database)];
    await run('account.add_days', hit, { days: 1, note: 'bought' });
    const now = Date.now();
    const outage = { since: now - 60_000, until: now + 3_600_000 };
    const ids = new Set((await findAffected(database, outage)).map(({ id }) => id));
    expect([ids.has(hit), ids.has(other)]).toEqual([true, false]);
    const grant = { days: 1, note: 'outage of today', label: 'Sorry for today' };
    expect([await grantForOutage(host, hit, grant), await grantForOutage(host, hit, grant)]).toEqual([true, false]);
    expect((await findAccount(database, hit)).periods.map(({ label }) => label)).toEqual(['1 day', 'Sorry for today']);
  });

  it('of a model is made good to those who requested it', async () => {
    expect(await findAffected(database, { since: 0, until: Date.now(), model: 'dp/none' })).toEqual([]);
  });
});

describe('an order is found', () => {
  it.each([
    ['the reference of its charge', ({ reference }: { reference: string; price: number; minute: string }) => reference],
    [
      'its amount and the minute',
      ({ price, minute }: { reference: string; price: number; minute: string }) => `Rp ${price} ${minute}`,
    ],
  ])('by %s', async (_name, words) => {
    const order = await startOrder(host, await createBuyer(database), 7);
    const minute = order.createdAt.toISOString().slice(11, 16);
    const found = async (text: string) =>
      (await listOrders(database, { words: text }, undefined, 100)).orders.some(({ id }) => id === order.id);
    expect(await found(words({ reference: referenceOf(order), price: order.price, minute }))).toBe(true);
    const [hour = '0'] = minute.split(':');
    expect(await found(`${order.price} ${(Number(hour) + 12) % 24}:00`)).toBe(false);
    expect(await found(`${order.price + 1}`)).toBe(false);
  });
});

describe('each action', () => {
  it('begins its summary with a verb and describes each input', () => {
    for (const { summary, input } of actionKinds) {
      expect(summary).toMatch(/^[a-z]+ /);
      for (const { description } of Object.values(input.properties)) expect(description).toMatch(/\.$/);
    }
  });
});
