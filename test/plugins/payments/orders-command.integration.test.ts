import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { addDays } from '#core/business/accounts/ledger.ts';
import { keepProviders } from '#core/business/payments/connections.ts';
import { flagForeignMoney, flagOrder } from '#core/business/payments/flags.ts';
import type { Database } from '#core/platform/database/database.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import { createTestDatabase } from '../../support/database.ts';
import { registeredHere } from '../../support/registered.ts';
import { hostOn, runOneCommand } from '../../support/run-one-command.ts';
import { listToldActions } from '../../support/told-actions.ts';

/** With the subcommands of other plugins. */
const ordersCommand = (await registeredHere()).commands.get('orders')!;

let database: Database;
/** The provider of orders whose books are compared. */
const bank = new FakeProvider('bank');
let accountId: string;
let email: string;
let id: string;
let code: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  email = `${randomUUID()}@example.com`;
  ({ accountId } = await createAccount(database, 'dp', { name: 'Ani', email }));
  ({ id, code } = await addPaidOrder());
});

/** Enters an order that was paid at this time, with its payment and its period. */
async function addPaidOrder(paidAt = '2026-11-21 18:30Z', issuer = '=cmd()'): Promise<{ id: string; code: string }> {
  const orderId = randomUUID();
  const orderCode = `ORD-${orderId.slice(0, 8).toUpperCase()}`;
  await database.query(
    `with o as (
       insert into plan_order (id, code, account_id, days, price, currency, label, provider, state, created_at, expires_at, paid_at)
       values (?, ?, ?, 7, 95000, 'IDR', 'weekly', 'sandbox', 'paid', ?::timestamptz, ?::timestamptz, ?::timestamptz)
     ), a as (
       insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at, state)
       values (?, ?, 1, 'sandbox', 95000, 'IDR', now(), 'paid')
     )
     insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, issuer, outcome, raw)
     values (gen_random_uuid(), ?, ?, 'sandbox', ?, 95000, 'IDR', ?::timestamptz, ?, 'activated', '{}')`,
    [
      orderId,
      orderCode,
      accountId,
      paidAt,
      paidAt,
      paidAt,
      `${orderCode}-1`,
      orderId,
      orderId,
      `${orderCode}-1`,
      orderId,
      paidAt,
      issuer,
    ],
  );
  await database
    .fork()
    .transactional((transaction) => addDays(transaction, accountId, { days: 7, reason: 'order', orderId }));
  return { id: orderId, code: orderCode };
}

const flag = () =>
  database
    .fork()
    .transactional((transaction) => flagOrder(transaction, { orderId: id, accountId }, 'second_payment', 'p2'));

/** Runs `daypass orders …` and returns what it printed, and how it ended: 0, 1 failed, 2 usage, 3 not found. */
const gateway = (...words: string[]) =>
  runOneCommand(
    ordersCommand,
    hostOn(database, (host) => keepProviders(host, new Map([[bank.provider.name, bank.provider]]))),
    words,
  );

const codesIn = ({ output }: { output: string }) => [...output.matchAll(/ORD-[\dA-F]{8}/g)].map(([found]) => found);

describe('orders list', () => {
  it('has the orders of an account, with amounts and times of the zone', async () => {
    const { output } = await gateway('list', '--account', email);
    expect(output).toContain(code);
    expect(output.replaceAll('\u00a0', ' ')).toContain('Rp 95.000');
    expect(output).toContain('2026-11-22 01:30');
    expect([output.includes(email), output.includes(accountId)]).toEqual([true, false]);
  });

  it.each([
    ['2026-11-22', 'Asia/Jakarta', 1],
    ['2026-11-21', 'Asia/Jakarta', 0],
    ['2026-11-21', 'UTC', 1],
  ])('of the day %s in %s has %i', async (day, zone, count) => {
    const listed = await gateway('list', '--account', accountId, '--day', day, '--time-zone', zone);
    expect(codesIn(listed)).toHaveLength(count);
  });

  it('can be limited to flagged orders', async () => {
    const unflagged = await gateway('list', '--flagged', '--account', accountId);
    await flag();
    const flagged = await gateway('list', '--flagged', '--account', accountId);
    expect([codesIn(unflagged), codesIn(flagged)]).toEqual([[], [code]]);
    expect(flagged.output).toContain('second_payment');
  });

  it('has pages', async () => {
    const { code: second } = await addPaidOrder('2026-11-21 19:30Z');
    const first = await gateway('list', '--account', accountId, '--limit', '1');
    const after = /--after (\S+)/.exec(first.output)?.[1] ?? '';
    const rest = await gateway('list', '--account', accountId, '--after', after);
    expect([codesIn(first), codesIn(rest)]).toEqual([[second], [code]]);
  });

  it.each([
    ['an unknown state', ['--state', 'happy']],
    ['a day that does not exist', ['--day', '2026-02-30']],
    ['an unknown zone', ['--time-zone', 'Mars/Olympus']],
  ])('refuses %s', async (_name, words) => {
    expect(await gateway('list', ...words)).toMatchObject({ exitCode: 2 });
  });

  it('names an account without an e-mail address by its id as well, such as a deleted one', async () => {
    await deleteAccount(database, accountId);
    const { output } = await gateway('list', '--account', accountId);
    expect(output).toContain(`Deleted account (${accountId})`);
  });

  it('finds them by buyer, payment, or amount and minute in the zone', async () => {
    const found = async (words: string) =>
      (await gateway('find', words, '--account', accountId, '--time-zone', 'Asia/Jakarta')).output.includes(code);
    expect([await found(email.slice(4, 20)), await found(`${code}-1`)]).toEqual([true, true]);
    expect([await found('95.000 01:32'), await found('95.000 18:30'), await found('94.999')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('with a wrong amount say so instead of what their charge does, until that is resolved', async () => {
    await database.query(`update plan_order set state = 'pending', paid_at = null where id = ?`, [id]);
    await database
      .fork()
      .transactional((transaction) => flagOrder(transaction, { orderId: id, accountId }, 'wrong_amount', `${code}-1`));
    const line = async () => (await gateway('list', '--account', accountId)).output.split('\n')[1];
    expect(await line()).toMatch(/ wrong amount /);
    await gateway('resolve', code, '--note', 'sent back');
    expect(await line()).not.toMatch(/ wrong amount /);
    expect((await gateway('show', code)).output).toMatch(/actions[^]*flag\.resolve .*sent back/);
  });

  it('of a day begin with what is wrong', async () => {
    await flag();
    const later = await addPaidOrder('2026-11-21 19:30Z');
    const ofDay = ['list', '--account', accountId, '--day', '2026-11-22'];
    expect(codesIn(await gateway(...ofDay))).toEqual([later.code, code]);
    expect(codesIn(await gateway(...ofDay, '--wrong-first'))).toEqual([code, later.code]);
  });

  it('exits with 3 for an unknown account', async () => {
    expect(await gateway('list', '--account', 'nobody@example.com')).toMatchObject({ exitCode: 3 });
  });
});

describe('orders show', () => {
  it('prints attempts, payments, notifications, flags and ledger', async () => {
    await flag();
    await database.query(
      `insert into payment_notification (provider, event_key, reference, body, outcome) values ('sandbox', ?, ?, '{}', 'settled')`,
      [id, `${code}-1`],
    );
    const { output } = await gateway('show', code.toLowerCase());
    for (const part of [
      'attempts',
      'payments',
      'notifications',
      'settled',
      'flags',
      'second_payment',
      'ledger',
      'order',
      `Ani <${email}> (${accountId})`,
    ])
      expect(output).toContain(part);
  });

  it('takes an id as well, and prints JSON', async () => {
    const { output } = await gateway('show', id, '--json');
    expect(JSON.parse(output)).toMatchObject({
      order: { code, accountId, price: 95_000 },
      owner: { email },
      attempts: [{ state: 'paid' }],
    });
  });

  it('exits with 3 when there is no such order', async () => {
    expect(await gateway('show', 'ORD-NOPE')).toMatchObject({
      exitCode: 3,
      error: 'Order ORD-NOPE not found. List orders with: daypass orders list',
    });
  });
});

describe('orders resolve', () => {
  it('keeps what was done, for all flags of an order', async () => {
    await flag();
    const { output } = await gateway('resolve', code, '--note', 'paid back by bank transfer');
    expect(output).toContain('paid back by bank transfer');
    expect(codesIn(await gateway('list', '--flagged', '--account', accountId))).toEqual([]);
  });

  it('takes the id of one flag', async () => {
    await flag();
    const [row] = await database.query<{ id: string }>('select id from order_flag where order_id = ?', [id]);
    expect(await gateway('resolve', row?.id ?? '', '--note', 'done')).toMatchObject({ exitCode: 0 });
  });

  it('takes the id of money without an order, which orders flags lists', async () => {
    const about = `bank/${randomUUID()}`;
    const at = new Date().toISOString();
    const detail = { kind: 'payment' as const, amount: 95_000, currency: 'IDR', provider: 'bank', at };
    await database.fork().transactional((transaction) => flagForeignMoney(transaction, about, detail));
    const { output } = await gateway('flags', '--limit', '1000');
    const line = output.split('\n').find((one) => one.includes(about)) ?? '';
    expect(line).toMatch(/not_in_books .*95\.000/);
    const flagId = line.split(' ')[0] ?? '';
    expect((await gateway('resolve', flagId, '--note', 'sent back')).output).toBe(`resolved ${flagId}`);
    expect((await gateway('flags', '--limit', '1000')).output).not.toContain(about);
    expect(await listToldActions(database, { subject: flagId, limit: 2 })).toMatchObject([
      { action: 'flag.resolve', operator: `command (${userInfo().username})`, note: 'flag: not_in_books, sent back' },
    ]);
    expect(await gateway('resolve', flagId, '--note', 'again')).toMatchObject({ exitCode: 1 });
  });

  it('exits with 1 when nothing is flagged', async () => {
    expect(await gateway('resolve', code, '--note', 'done')).toMatchObject({
      exitCode: 1,
      error: `Order ${code} has no unresolved flag.`,
    });
  });
});

describe('what a command does to an order', () => {
  it.each([
    ['order.refund', ['refund', '--note', 'bought twice', '--manual', '--yes'], /bought twice$/],
    ['flag.resolve', ['resolve', '--note', 'paid back'], /paid back$/],
  ])('is recorded as %s, with who and why', async (action, [verb = '', ...words], note) => {
    await flag();
    expect(await gateway(verb, code, ...words)).toMatchObject({ exitCode: 0 });
    expect(await listToldActions(database, { subject: id, limit: 5 })).toMatchObject([
      {
        action,
        operator: `command (${userInfo().username})`,
        note: expect.stringMatching(note) as string,
        outcome: 'done',
      },
    ]);
  });

  it('takes back the days that --days names', async () => {
    const words = ['--days', 'none', '--note', 'goodwill', '--manual', '--yes'];
    expect((await gateway('refund', code, ...words)).output).not.toMatch(/refund +7 /);
  });
});

describe('orders refund', () => {
  it('ends what is left of the period when the operator has paid the money back', async () => {
    const { output, exitCode } = await gateway('refund', code, '--note', 'bought twice', '--manual', '--yes');
    expect(exitCode).toBe(0);
    expect(output).toMatch(/state +refunded/);
    expect(output).toContain('operator');
    expect(output).toMatch(/refund +7 /);
    expect(await listToldActions(database, { subject: id, limit: 5 })).toMatchObject([
      {
        action: 'order.refund',
        outcome: 'done',
        note: expect.stringMatching(/^payment: .+, manual: true, bought twice$/) as string,
      },
    ]);
  });

  it('asks for confirmation, and changes nothing without a terminal', async () => {
    expect(await gateway('refund', code, '--note', 'x')).toMatchObject({ exitCode: 2 });
    expect((await gateway('show', code)).output).toMatch(/state +paid/);
  });

  it('of one payment, in part, leaves the days and names what is left', async () => {
    await addSecondPayment();
    const { output, exitCode, error } = await gateway('refund', code, '--note', 'x', '--manual', '--yes');
    expect([exitCode, output]).toEqual([1, '']);
    expect(error).toContain(`Order ${code} has 2 payments`);
    const refund = await gateway(
      'refund',
      '--payment',
      `${id}-2`,
      '--amount',
      '30000',
      '--note',
      'x',
      '--manual',
      '--yes',
    );
    expect(refund.output.replaceAll('\u00a0', ' ')).toMatch(/second +Rp 18\.000/);
    expect(refund.output).toMatch(/state +paid/);
  });

  it.each([
    [['--payment', 'nobody'], 3],
    [[], 2],
    [['--amount', '0'], 2],
    [['--days', 'some'], 2],
  ])('with %j exits with %i', async (words, exitCode) => {
    expect(await gateway('refund', ...words, '--note', 'x', '--yes')).toMatchObject({ exitCode });
  });

  it('that is under way is closed by the operator’s word', async () => {
    await database.query(
      `insert into refund (key, order_id, payment_id, amount, currency, state, reason)
       select ?, order_id, id, amount, currency, 'sent', 'x' from payment where order_id = ?`,
      [`${code}-R1`, id],
    );
    expect(await gateway('refund', code, '--note', 'x', '--manual', '--yes')).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining(`Refund ${code}-R1 of`) as string,
    });
    const { output } = await gateway('close-refund', `${code}-R1`, '--as', 'done', '--note', 'the buyer has it');
    expect(output).toMatch(/state +refunded/);
    expect(await gateway('close-refund', `${code}-R1`, '--as', 'failed', '--note', 'x')).toMatchObject({ exitCode: 1 });
    expect(await gateway('close-refund', 'nobody', '--as', 'failed', '--note', 'x')).toMatchObject({ exitCode: 3 });
  });

  it('of an order that is not paid exits with 1', async () => {
    await gateway('refund', code, '--note', 'x', '--manual', '--yes');
    expect(await gateway('refund', code, '--note', 'x', '--manual', '--yes')).toMatchObject({ exitCode: 1 });
  });
});

/** Of 48,000 rupiah, a day after the first one. */
const addSecondPayment = (fee: number | null = null) =>
  database.query(
    `insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, fee, raw)
     values (gen_random_uuid(), ?, ?, 'sandbox', ?, 48000, 'IDR', '2026-11-22 18:30Z', 'second', ?, '{}')`,
    [id, `${code}-1`, `${id}-2`, fee],
  );

const exported = async (...words: string[]) =>
  (await gateway('export', '--account', accountId, ...words)).output.split('\n');

describe('orders export', () => {
  it('has a line for each payment and each refund, by the day of the money', async () => {
    await gateway('refund', code, '--note', 'x', '--manual', '--yes');
    const [head, payment, refund, ...rest] = await exported();
    expect(head).toBe(
      'day,time,kind,order,amount,currency,days,label,account,provider,reference,payment_id,issuer,outcome,order_state,flagged,fee,net,reconciled,gift,at',
    );
    expect(payment).toBe(
      `2026-11-22,01:30:00,payment,${code},95000,IDR,7,weekly,${accountId},sandbox,${code}-1,${id},'=cmd(),activated,refunded,no,,95000,no,no,2026-11-21T18:30:00.000Z`,
    );
    expect(refund).toContain(`,refund,${code},-95000,IDR,`);
    expect(rest).toEqual([]);
  });

  it.each([
    [['--day', '2026-11-22'], 2],
    [['--day', '2026-11-21'], 1],
    [['--since', '2026-11-22', '--until', '2026-11-30'], 2],
    [['--day', '2026-11-21', '--time-zone', 'UTC'], 2],
  ])('with %j has %i lines', async (words, count) => {
    expect(await exported(...words)).toHaveLength(count);
  });

  it('has every payment of long lists once, also of the same instant', async () => {
    await database.query(
      `insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
       select gen_random_uuid(), ?, ?, 'sandbox', ? || n, 1, 'IDR', '2026-11-23 00:00Z', 'second', '{}' from generate_series(1, 4200) n`,
      [id, `${code}-1`, id],
    );
    const lines = await exported('--day', '2026-11-23');
    expect(new Set(lines).size).toBe(4_201);
  });
});

/** Lines of the export of a day, of all accounts. */
const whole = async (day: string, ...words: string[]) =>
  (await gateway('export', '--day', day, ...words)).output.split('\n').slice(1);

describe('the books', () => {
  // Days of their own: other tests have money on others.
  beforeEach(async () => {
    await database.query(`update payment set paid_at = paid_at + interval '1 year' where order_id = ?`, [id]);
  });

  it('have a total line for each day and provider, without refunds by hand', async () => {
    await addSecondPayment(340);
    await database.query(`update payment set paid_at = '2027-11-21 19:00Z' where payment_id = ?`, [`${id}-2`]);
    await gateway('refund', '--payment', `${id}-2`, '--note', 'x', '--manual', '--yes');
    await database.query(`update refund set finished_at = '2027-11-21 20:00Z' where order_id = ?`, [id]);
    const lines = await whole('2027-11-22');
    expect(lines.map((line) => line.split(',')[2])).toEqual(['payment', 'payment', 'refund', 'total']);
    expect(lines.at(-1)).toBe('2027-11-22,,total,,143000,IDR,,,,sandbox,,,,,,,340,142660,,,');
    expect(await whole('2027-11-22', '--no-totals')).toHaveLength(3);
    await database.query(`update payment set paid_at = paid_at + interval '1 year' where order_id = ?`, [id]);
    await database.query(`update refund set finished_at = now() where order_id = ?`, [id]);
  });

  it('of a month have each day and the sum, in Jakarta', async () => {
    await database.query(`update payment set paid_at = '2028-02-28 17:30Z' where order_id = ?`, [id]);
    const csv = (await gateway('month', '2028-02')).output.split('\n');
    expect(csv).toHaveLength(31);
    expect([csv[0], csv[28], csv[29], csv[30]]).toEqual([
      'day,payments,gross,refunds,refunded,net,fees,currency',
      '2028-02-28,0,0,0,0,0,0,IDR',
      '2028-02-29,1,95000,0,0,95000,0,IDR',
      'total,1,95000,0,0,95000,0,IDR',
    ]);
    expect((await gateway('month', '2028-02', '--time-zone', 'UTC')).output).toContain('2028-02-28,1,95000');
    const page = (await gateway('month', '2028-02', '--html')).output;
    expect(page).toContain('Rekapitulasi peredaran bruto Februari 2028');
    expect(page.replaceAll('\u00a0', ' ')).toContain('<tfoot><tr><td>Jumlah</td><td>1</td><td>Rp 95.000</td>');
    expect(await gateway('month', '2028-13')).toMatchObject({ exitCode: 2 });
  });

  it('are compared with those of the provider, and exit with 1 when they differ', async () => {
    await database.query(`update payment set provider = 'bank', paid_at = '2029-03-01 05:00Z' where order_id = ?`, [
      id,
    ]);
    await database.query(
      `update payment_attempt set provider = 'bank', created_at = '2029-03-01 04:00Z' where order_id = ?`,
      [id],
    );
    bank.connection.listMovements = () => Promise.resolve({ movements: [] });
    const differing = await gateway('reconcile', '--day', '2029-03-01');
    expect(differing).toMatchObject({ exitCode: 1, error: 'The books differ, or could not be read in full.' });
    expect(differing.output).toMatch(/only here +payment +2029-03-01 12:00/);
    const at = new Date('2029-03-01T05:00:00Z');
    const movement = { kind: 'payment' as const, id, amount: 95_000, currency: 'IDR', at, fee: 665 };
    bank.connection.listMovements = () => Promise.resolve({ movements: [movement] });
    const equal = await gateway('reconcile', '--day', '2029-03-01', '--json');
    expect(equal.exitCode).toBe(0);
    expect(JSON.parse(equal.output)).toMatchObject([{ provider: 'bank', differences: [], here: { fees: 665 } }]);
    expect((await whole('2029-03-01'))[0]).toMatch(/,no,665,94335,yes,no,2029-03-01T05:00:00.000Z$/);
    expect(await gateway('reconcile', '--day', '2029-03-02')).toMatchObject({ exitCode: 0 });
    expect(await gateway('reconcile', '--day', '2029-03-01', '--provider', 'nobody')).toMatchObject({ exitCode: 3 });
    const [refused, ...compared] = await listToldActions(database, { subject: 'books', limit: 9 });
    expect([refused?.outcome, ...compared.map(({ outcome }) => outcome)]).toEqual(['failed', 'done', 'done', 'done']);
  });
});
