import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import { getCommandOperator, getCoreAction, runAction } from '#core/business/operator-actions/actions.ts';
import { recordAction } from '#core/business/operator-actions/operator-actions.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { flagForeignMoney, flagOrder, listOpenFlags } from '#core/business/payments/flags.ts';
import { listOrders, readOrder } from '#core/business/payments/order.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../support/database.ts';
import { listToldActions } from '../../support/told-actions.ts';
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

const run = (
  name: Parameters<typeof getCoreAction>[0],
  handle: string,
  input: Readonly<Record<string, unknown>> = {},
) => runAction(host, getCommandOperator(), getCoreAction(name) as ActionKind, handle, input);
const record = async (subject: string) => (await listToldActions(database, { subject, limit: 1 }))[0];

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

  it('that succeeds is not reported as failed when its outcome cannot be stored', async () => {
    const failing = {
      query: (sql: string, values?: unknown[]) =>
        sql.startsWith('update') ? Promise.reject(new Error('connection lost')) : database.query(sql, values),
    } as Parameters<typeof recordAction>[0];
    const subject = crypto.randomUUID();
    const action = { operator: getCommandOperator(), action: 'account.note', subject, details: {} };
    expect(await recordAction(failing, action, () => Promise.resolve('refunded'))).toBe('refunded');
    expect(await record(subject)).toMatchObject({ outcome: 'unknown' });
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
      await expect(call).rejects.toMatchObject({ kind: 'invalid' });
      expect((await findAccount(database, accountId)).email).toBe(email);
    },
  );

  it('on a deleted account keeps operator and action, and no text except the reason for the deletion', async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const { accountId } = await createAccount(database, 'dp', { name: 'Eka', email });
    await run('account.change_email', accountId, { to: `new-${email}`, note: `asked by ${email}` });
    await run('account.remove_sign_in', accountId, { sign_in: 'google', note: 'lost' }).catch(() => undefined);
    await run('account.delete', accountId, { confirm: email, note: 'too early' }).catch(() => undefined);
    await run('account.delete', accountId, { confirm: accountId, note: 'asked by letter' });
    const kept = await listToldActions(database, { subject: accountId, limit: 10 });
    expect(kept.map(({ action, note, outcome, error }) => ({ action, note, outcome, error }))).toEqual([
      { action: 'account.delete', note: 'asked by letter', outcome: 'done', error: undefined },
      { action: 'account.delete', note: undefined, outcome: 'failed', error: 'removed with the account' },
      { action: 'account.remove_sign_in', note: undefined, outcome: 'failed', error: 'removed with the account' },
      { action: 'account.change_email', note: undefined, outcome: 'done', error: undefined },
    ]);
  });

  it('names the other account of a sign-in that moves by its id', async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const { accountId } = await createAccount(database, 'dp', { name: 'Fajar' });
    const other = await createAccount(database, 'dp', { name: 'Gita', email });
    await run('account.move_sign_in', accountId, { sign_in: 'google', to: email, note: 'lost' }).catch(() => undefined);
    expect((await record(accountId))?.note).toBe(`sign_in: google, to: ${other.accountId}, lost`);
  });

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

describe('the account of an operator', () => {
  it.each([
    ['account.block', { note: 'mistake' }],
    ['account.delete', { confirm: 'ops@example.com' }],
    ['account.change_email', { to: 'x@example.com', note: 'mistake' }],
    ['account.remove_sign_in', { sign_in: 'google', note: 'mistake' }],
    ['account.move_sign_in', { sign_in: 'google', to: 'x', note: 'mistake' }],
  ] as const)('is refused by %s, which is recorded', async (name, input) => {
    const guarded = {
      ...host,
      section: (section: { name: string }) =>
        section.name === 'operators' ? ['ops@example.com'] : host.section(section as never),
    } as Host;
    const [known] = await database.query<{ id: string }>(`select id from account where email = 'ops@example.com'`);
    const accountId =
      known?.id ?? (await createAccount(database, 'dp', { name: 'Ops', email: 'ops@example.com' })).accountId;
    const call = runAction(guarded, getCommandOperator(), getCoreAction(name) as ActionKind, accountId, input);
    await expect(call).rejects.toMatchObject({ kind: 'operator_account' });
    expect(await record(accountId)).toMatchObject({ action: name, outcome: 'failed' });
    expect(await findAccount(database, accountId)).toMatchObject({ email: 'ops@example.com', blockedAt: undefined });
  });
});

describe('a flag', () => {
  it('about money of no order is resolved, and recorded by its own id', async () => {
    const about = `fake/${crypto.randomUUID()}`;
    const at = new Date().toISOString();
    const detail = { kind: 'payment' as const, amount: 95_000, currency: 'IDR', provider: 'fake', at };
    await database.fork().transactional((transaction) => flagForeignMoney(transaction, about, detail));
    const flag = (await listOpenFlags(database, 100)).flags.find(({ subject }) => subject === about);
    await run('flag.resolve', flag?.id ?? '', { note: 'sent back' });
    expect((await listOpenFlags(database, 100)).flags.some(({ subject }) => subject === about)).toBe(false);
    expect(await record(flag?.id ?? '')).toMatchObject({
      action: 'flag.resolve',
      note: 'flag: not_in_books, sent back',
      outcome: 'done',
    });
    await expect(run('flag.resolve', flag?.id ?? '', { note: 'again' })).rejects.toMatchObject({ kind: 'not_open' });
  });

  it('of an order is resolved by its id or with all of the order, and recorded at the order', async () => {
    const order = await startOrder(host, await createBuyer(database), 7);
    for (const about of ['a', 'b', 'c'])
      await database
        .fork()
        .transactional((transaction) =>
          flagOrder(transaction, { orderId: order.id, accountId: order.accountId }, 'disputed', about),
        );
    const [first] = (await readOrder(database, { id: order.id }))?.flags ?? [];
    await run('flag.resolve', first?.id.toUpperCase() ?? '', { note: 'one' });
    await run('flag.resolve', order.code, { note: 'the others' });
    const { flags = [] } = (await readOrder(database, { id: order.id })) ?? {};
    expect(flags.map(({ resolution }) => resolution)).toEqual(['one', 'the others', 'the others']);
    expect((await listToldActions(database, { subject: order.id, limit: 5 })).map(({ note }) => note)).toEqual([
      'the others',
      'flag: disputed, one',
    ]);
  });
});

describe('a refund', () => {
  it('that is under way is closed by its key, and recorded at its order', async () => {
    const order = await startOrder(host, await createBuyer(database), 7);
    fake.pay(referenceOf(order));
    await run('order.check', order.code);
    fake.refundState = 'pending';
    await run('order.refund', order.code, { note: 'bought twice' });
    fake.refundState = 'done';
    await run('refund.close', `${order.code}-R1`, { as: 'done', note: 'ticket 8123' });
    expect((await readOrder(database, { id: order.id }))?.state).toBe('refunded');
    expect(await record(order.id)).toMatchObject({
      action: 'refund.close',
      note: `as: done, refund: ${order.code}-R1, ticket 8123`,
    });
    await expect(run('refund.close', 'ORD-NONE-R1', { as: 'done', note: 'x' })).rejects.toMatchObject({
      kind: 'not_found',
    });
  });
});

describe('an account', () => {
  it('is deleted when its address is repeated, and not while it can still pay an order', async () => {
    const { accountId } = await createAccount(database, 'dp', { name: 'Eka', email: 'Eka@example.com' });
    const order = await startOrder(host, accountId, 7);
    await expect(run('account.delete', accountId, { confirm: 'other@example.com' })).rejects.toMatchObject({
      kind: 'not_confirmed',
    });
    await expect(run('account.delete', accountId, { confirm: 'eka@example.com' })).rejects.toMatchObject({
      kind: 'order_open',
    });
    await run('order.cancel', order.code, { note: 'first' });
    await run('account.delete', accountId, { confirm: 'eka@example.com', note: 'asked by mail' });
    expect((await findAccount(database, accountId)).deletedAt).toBeDefined();
    expect(await record(accountId)).toMatchObject({ action: 'account.delete', note: 'asked by mail', outcome: 'done' });
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

  it.each([
    ['23:57', '00:02', true],
    ['00:02', '23:57', true],
    ['23:57', '00:03', false],
    ['20:14', '20:19', true],
    ['20:14', '20:08', false],
  ])('that was made at %s by %s: %s', async (made, told, isFound) => {
    const order = await startOrder(host, await createBuyer(database), 7);
    await database.query(
      `update plan_order set created_at = ('2026-11-20 ' || ?)::timestamp at time zone 'Asia/Jakarta' where id = ?`,
      [made, order.id],
    );
    const filter = { words: `95.000 ${told}`, timeZone: 'Asia/Jakarta', accountId: order.accountId };
    expect((await listOrders(database, filter, undefined, 10)).orders).toHaveLength(isFound ? 1 : 0);
  });
});
