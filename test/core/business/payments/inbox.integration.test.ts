import { afterEach, describe, expect, it, vi } from 'vitest';
import { listOpenFlags } from '#core/business/payments/flags.ts';
import { receiveNotification } from '#core/business/payments/inbox.ts';
import { listMovements } from '#core/business/payments/movements.ts';
import { readOldestUnconfirmed } from '#core/business/payments/payment-figures.ts';
import { type PaymentEvidence, PaymentError } from '#core/business/payments/payment-provider.ts';
import { processNotification } from '#core/business/payments/process-notification.ts';
import { refundPayment } from '#core/business/payments/refunds.ts';
import { settle } from '#core/business/payments/settle.ts';
import { sweepPayments } from '#core/business/payments/sweep.ts';
import { getInboxQueue } from '#core/business/payments/work-queue.ts';
import type { Database } from '#core/platform/database/database.ts';
import { silentLog } from '../../../support/database.ts';
import { createPaymentHost, type PaymentHost, referenceOf, timeHeld } from './fixture.ts';
import { useShopWithOrder } from './use-shop.ts';

const shop = useShopWithOrder();

let events = 0;

interface Sent {
  readonly reference?: string;
  readonly key?: string;
  readonly secret?: string;
  readonly evidence?: PaymentEvidence;
  readonly to?: PaymentHost;
  readonly provider?: string;
}

const notify = ({
  reference = referenceOf(shop.order),
  key = `event-${++events}`,
  secret = 'right',
  evidence,
  to = shop.host,
  provider = 'fake',
}: Sent = {}) =>
  receiveNotification(to, provider, {
    headers: { 'x-secret': secret },
    body: Buffer.from(JSON.stringify({ reference, key, evidence })),
    query: new URLSearchParams(),
  });
const movements = async () =>
  (await Array.fromAsync(listMovements(shop.database, { accountId: shop.accountId }))).map(({ amount }) => amount);
const stored = (reference = referenceOf(shop.order)) =>
  shop.database.query<{ id: string; outcome: string | null; tries: number; is_open: boolean }>(
    `select id::text, outcome, tries, next_try_at is not null as is_open from payment_notification
     where reference = ? order by id`,
    [reference],
  );
const makeDue = () =>
  shop.database.query('update payment_notification set next_try_at = clock_timestamp() where next_try_at is not null');

/** As Xendit does, the provider reads each charge by its own name, and refuses the name of one for another. */
const second = async (state: PaymentEvidence['state']) => {
  const reference = referenceOf(shop.order);
  const about = { reference, providerReference: `U-${reference}` };
  shop.fake.connection.readNotification = () => ({ ...about, eventKey: `second ${reference}` });
  shop.fake.connection.status = async (charge) => {
    if (charge.providerReference !== about.providerReference) return shop.fake.evidence(reference);
    const paid = { paymentId: `P-${reference}`, paid: { amount: 95_000, currency: 'IDR' } };
    return { ...about, state, ...(state === 'paid' && paid), raw: {} };
  };
  await notify();
  await getInboxQueue(shop.host).waitUntilIdle();
  return shop.reread();
};

describe('a notification of a second charge for a reference, which was not shown', () => {
  it('is for the operator when that charge was paid, is in the books, and gives no days', async () => {
    const subject = `P-${referenceOf(shop.order)}`;
    expect(await second('paid')).toMatchObject({
      state: 'pending',
      payments: [{ paymentId: subject, amount: 95_000, outcome: 'wrong_reference' }],
      flags: [{ kind: 'wrong_reference', subject }],
    });
    expect(await stored()).toMatchObject([{ outcome: 'foreign', is_open: false }]);
    expect(await movements()).toEqual([95_000]);
    expect(
      (await listOpenFlags(shop.database, 100)).flags.find((flag) => flag.subject === subject)?.money?.amount,
    ).toBe(95_000);
    expect((await timeHeld(shop.database, shop.accountId)).periods).toBe(0);
  });

  it('is paid back from that charge, which closes its flag and leaves the payment of the shown charge alone', async () => {
    const [payment] = (await second('paid')).payments;
    shop.fake.pay(referenceOf(shop.order));
    await settle(shop.host, 'fake', shop.fake.evidence(referenceOf(shop.order)));
    expect((await shop.reread()).state).toBe('paid');
    const asked = vi.fn<NonNullable<typeof shop.fake.connection.refund>>(() =>
      Promise.resolve({ state: 'done', raw: {} }),
    );
    shop.fake.connection.refund = asked;
    await refundPayment(shop.host, payment?.id ?? '', { reason: 'paid twice', isManual: false });
    expect(asked.mock.calls[0]?.[0]).toMatchObject({
      providerReference: `U-${referenceOf(shop.order)}`,
      paymentId: `P-${referenceOf(shop.order)}`,
      amount: 95_000,
    });
    expect(await shop.reread()).toMatchObject({ state: 'paid', flags: [{ resolvedAt: expect.any(Date) as Date }] });
    expect((await movements()).toSorted()).toEqual([-95_000, 95_000, 95_000]);
  });

  it('is in the books once, with its refund, however often it is reported', async () => {
    await second('paid');
    await second('paid');
    expect(await movements()).toEqual([95_000]);
    const refunds = [{ id: `rfd-${shop.order.code}`, amount: 95_000, state: 'done' as const }];
    const reference = referenceOf(shop.order);
    const back = { reference, providerReference: `U-${reference}`, paymentId: `P-${reference}`, refunds, raw: {} };
    await settle(shop.host, 'fake', { ...back, state: 'refunded', paid: { amount: 95_000, currency: 'IDR' } });
    expect(await movements()).toEqual([95_000, -95_000]);
    expect(await shop.reread()).toMatchObject({ state: 'pending', flags: [{ resolvedAt: expect.any(Date) as Date }] });
  });

  it('that names no payment is not taken for the payment of the charge that was shown', async () => {
    const reference = referenceOf(shop.order);
    const paid = { amount: 95_000, currency: 'IDR' };
    const shown = { reference, providerReference: `T-${reference}`, state: 'paid', paid, raw: {} } as const;
    await settle(shop.host, 'fake', { ...shown, providerReference: `U-${reference}` });
    await settle(shop.host, 'fake', shown);
    expect((await shop.reread()).payments.map(({ outcome, paymentId }) => [outcome, paymentId])).toEqual([
      ['wrong_reference', `charge:U-${reference}`],
      ['activated', `charge:${reference}`],
    ]);
  });

  it('settles the charge that was shown when nothing was paid for the other', async () => {
    shop.fake.pay(referenceOf(shop.order));
    expect(await second('expired')).toMatchObject({ state: 'paid', flags: [] });
  });

  it('settles the charge that was shown when the provider refuses to read the other', async () => {
    const { status } = shop.fake.connection;
    shop.fake.pay(referenceOf(shop.order));
    shop.fake.connection.readNotification = () => ({
      reference: referenceOf(shop.order),
      providerReference: 'U',
      eventKey: 'refused',
    });
    shop.fake.connection.status = (charge, signal) =>
      charge.providerReference === 'U'
        ? Promise.reject(new PaymentError('rejected', 'another'))
        : status(charge, signal);
    await notify();
    await getInboxQueue(shop.host).waitUntilIdle();
    expect((await shop.reread()).state).toBe('paid');
  });
});

describe('an authentic notification', () => {
  it('is answered with 200, and its order activated by a status read', async () => {
    shop.fake.pay(referenceOf(shop.order));
    expect((await notify()).status).toBe(200);
    await getInboxQueue(shop.host).waitUntilIdle();
    expect((await shop.reread()).state).toBe('paid');
    expect(await stored()).toMatchObject([{ outcome: 'paid', is_open: false }]);
  });

  it('proves nothing by itself: what the status says counts', async () => {
    await notify();
    await getInboxQueue(shop.host).waitUntilIdle();
    expect((await shop.reread()).state).toBe('pending');
  });

  it('that covers everything needs no status read', async () => {
    shop.fake.pay(referenceOf(shop.order));
    await notify({
      evidence: { ...shop.fake.evidence(referenceOf(shop.order)), paidAt: new Date('2026-01-02T03:04:05Z') },
    });
    await getInboxQueue(shop.host).waitUntilIdle();
    expect(await shop.reread()).toMatchObject({ state: 'paid', paidAt: new Date('2026-01-02T03:04:05Z') });
    expect(shop.fake.calls).not.toContain('status');
  });

  it('that lists a refund needs no status read either, and dates the refund by the time that it states', async () => {
    shop.fake.listsRefunds = true;
    shop.fake.pay(referenceOf(shop.order));
    await notify({ evidence: shop.fake.evidence(referenceOf(shop.order)) });
    await getInboxQueue(shop.host).waitUntilIdle();
    shop.fake.giveBack(referenceOf(shop.order), shop.order.price);
    const { refunds = [], ...evidence } = shop.fake.evidence(referenceOf(shop.order));
    const at = new Date(Date.now() - 86_400_000);
    await notify({ evidence: { ...evidence, refunds: refunds.map((one) => ({ ...one, at })) } });
    await getInboxQueue(shop.host).waitUntilIdle();
    const all = await Array.fromAsync(listMovements(shop.database, { accountId: shop.accountId }));
    expect(all.find(({ amount }) => amount < 0)).toMatchObject({ amount: -shop.order.price, at });
    expect(shop.fake.calls).not.toContain('status');
  });

  it('is answered as its provider expects', async () => {
    const acknowledgement = { status: 200, body: '{"success":true}', contentType: 'application/json' };
    Object.assign(shop.fake.connection, { acknowledgement });
    expect(await notify()).toEqual(acknowledgement);
  });

  it('that comes a hundred times over two instances activates once', async () => {
    const other = createPaymentHost(shop.database, [shop.fake.provider]);
    shop.fake.pay(referenceOf(shop.order));
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        notify({ key: `same ${shop.order.id}`, to: n % 2 === 0 ? shop.host : other }),
      ),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    await getInboxQueue(shop.host).waitUntilIdle();
    await getInboxQueue(other).waitUntilIdle();
    expect(await timeHeld(shop.database, shop.accountId)).toMatchObject({ periods: 1 });
    expect(await stored()).toHaveLength(1);
  });

  it('replayed later changes nothing', async () => {
    shop.fake.pay(referenceOf(shop.order));
    await notify({ key: `replay ${shop.order.id}` });
    await getInboxQueue(shop.host).waitUntilIdle();
    shop.fake.end(referenceOf(shop.order), 'pending');
    await notify({ key: `replay ${shop.order.id}` });
    await notify();
    await getInboxQueue(shop.host).waitUntilIdle();
    expect((await shop.reread()).state).toBe('paid');
    expect(await timeHeld(shop.database, shop.accountId)).toMatchObject({ periods: 1 });
  });

  it('is processed by a sweep when its instance has died', async () => {
    shop.fake.pay(referenceOf(shop.order));
    const { promise: died, resolve: die } = Promise.withResolvers<void>();
    shop.fake.before = () => {
      die();
      return new Promise(() => undefined);
    };
    await notify();
    await died;
    shop.fake.before = () => undefined;
    await makeDue();
    await sweepPayments(createPaymentHost(shop.database, [shop.fake.provider]));
    expect((await shop.reread()).state).toBe('paid');
  });

  it('is kept while the provider does not respond, and tried again', async () => {
    shop.fake.pay(referenceOf(shop.order));
    shop.fake.fail('status', new PaymentError('unknown', 'HTTP 500'));
    await notify();
    await getInboxQueue(shop.host).waitUntilIdle();
    expect((await shop.reread()).state).toBe('pending');
    expect(shop.host.enqueued.at(-1)).toMatchObject({ name: 'process-notification' });
    shop.fake.failures.clear();
    await makeDue();
    await processNotification(shop.host, (await stored())[0]?.id ?? '');
    expect((await shop.reread()).state).toBe('paid');
  });

  it('whose news the status does not show yet brings the next check forward', async () => {
    await shop.database.query(
      "update payment_attempt set next_check_at = clock_timestamp() + interval '1 min' where order_id = ?",
      [shop.order.id],
    );
    await notify();
    await getInboxQueue(shop.host).waitUntilIdle();
    const [check] = await shop.database.query<{ delay: number }>(
      'select extract(epoch from next_check_at - clock_timestamp())::float8 as delay from payment_attempt where order_id = ?',
      [shop.order.id],
    );
    expect(check?.delay).toBeLessThan(6);
  });

  it('with characters that PostgreSQL rejects is still stored', async () => {
    expect(
      (await notify({ key: `nul \0 \ud800 ${shop.order.id}`, reference: `${referenceOf(shop.order)}\0` })).status,
    ).toBe(200);
  });
});

const failToConnect = (): never => {
  throw new Error('server_key is missing');
};

describe('a notification is refused', () => {
  it('with 403 when it is not authentic, and nothing is stored', async () => {
    expect(await notify({ secret: 'wrong' })).toMatchObject({ status: 403, body: '' });
    expect(await stored()).toEqual([]);
  });

  it('with 403 when it cannot be read', async () => {
    const broken = { headers: { 'x-secret': 'right' }, body: Buffer.from('{'), query: new URLSearchParams() };
    expect((await receiveNotification(shop.host, 'fake', broken)).status).toBe(403);
  });

  it('with 404 when there is no such provider', async () => {
    expect((await notify({ provider: 'nobody' })).status).toBe(404);
  });

  it('with 503 when its provider has no secret here', async () => {
    const unconfigured = createPaymentHost(shop.database, [{ ...shop.fake.provider, connect: failToConnect }]);
    const lines: string[] = [];
    Object.assign(unconfigured, { log: { ...silentLog, error: (line: string) => lines.push(line) } });
    for (let times = 0; times < 20; times++) expect((await notify({ to: unconfigured })).status).toBe(503);
    // Anyone can send it.
    expect(lines).toHaveLength(1);
  });

  it.each([
    ['fails', () => Promise.reject(new Error('ECONNREFUSED'))],
    ['hangs', () => new Promise<never>(() => undefined)],
  ])('with 503 when the database %s', async (_, storeFirst) => {
    const down = createPaymentHost(Object.assign(Object.create(shop.database), { storeFirst }), [shop.fake.provider]);
    expect((await notify({ to: down })).status).toBe(503);
  });

  it('with 200 only when the database has committed it', async () => {
    // The commit waits for a lock that the test holds.
    await shop.database.query(`create function wait_at_commit() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(4711); return null; end $$`);
    await shop.database.query(`create constraint trigger wait_at_commit after insert on payment_notification
      deferrable initially deferred for each row execute function wait_at_commit()`);
    const end = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const held = shop.database.fork().transactional(async (transaction) => {
      await transaction.execute('select pg_advisory_xact_lock(4711)');
      begun.resolve();
      await end.promise;
    });
    await begun.promise;
    try {
      let isAnswered = false;
      const answer = notify().finally(() => (isAnswered = true));
      await vi.waitFor(async () => {
        const waiting = await shop.database.query(`select from pg_locks where locktype = 'advisory' and not granted`);
        expect(waiting).toHaveLength(1);
      });
      expect(isAnswered).toBe(false);
      expect(await stored()).toEqual([]);
      end.resolve();
      expect((await answer).status).toBe(200);
      expect(await stored()).toHaveLength(1);
    } finally {
      end.resolve();
      await held;
      await shop.database.query('drop function wait_at_commit cascade');
    }
  });

  it('although settlements hold the connections of everything else', async () => {
    const end = Promise.withResolvers<void>();
    const held = Array.from({ length: 10 }, () => {
      const begun = Promise.withResolvers<void>();
      const ended = shop.database.fork().transactional(async (transaction) => {
        await transaction.execute('select 1');
        begun.resolve();
        await end.promise;
      });
      return { begun: begun.promise, ended };
    });
    await Promise.all(held.map(({ begun }) => begun));
    try {
      expect((await notify()).status).toBe(200);
    } finally {
      end.resolve();
      await Promise.all(held.map(({ ended }) => ended));
    }
  });
});

describe('a notification of an unknown order', () => {
  it('is kept, and processed once the order is committed', async () => {
    const reference = `ORD-LATE${events}.1`;
    const evidence: PaymentEvidence = {
      reference,
      providerReference: `T-${reference}`,
      state: 'paid',
      paid: { amount: 95_000, currency: 'IDR' },
      paymentId: `T-${reference}`,
      raw: null,
    };
    await notify({ reference, evidence });
    await getInboxQueue(shop.host).waitUntilIdle();
    expect(await stored(reference)).toMatchObject([{ outcome: null, is_open: true }]);
    await shop.database.query(
      'update payment_attempt set reference = ?, provider_reference = null where order_id = ?',
      [reference, shop.order.id],
    );
    await makeDue();
    await sweepPayments(shop.host);
    expect((await shop.reread()).state).toBe('paid');
  });

  it.each([
    ['lists the money that it is about, without an order', true, 1],
    ['lists nothing for a charge that is not paid', false, 0],
  ])('after ten minutes %s, and keeps no buyer waiting', async (_title, isPaid, listed) => {
    const reference = `OTHER-${events}.1`;
    const evidence = shop.fake.evidence(referenceOf(shop.order));
    const paid = { amount: 12_000, currency: 'IDR' };
    shop.fake.connection.status = () =>
      Promise.resolve({
        ...evidence,
        reference,
        providerReference: `T-${reference}`,
        ...(isPaid && { state: 'paid' as const, paid, paymentId: `P-${reference}` }),
      });
    await notify({ reference });
    await getInboxQueue(shop.host).waitUntilIdle();
    await shop.database.query(
      "update payment_notification set received_at = received_at - interval '11 min' where reference = ?",
      [reference],
    );
    expect(await readOldestUnconfirmed(shop.database)).toBeUndefined();
    await makeDue();
    await sweepPayments(shop.host);
    const { flags } = await listOpenFlags(shop.database, 100, 'no order');
    const own = flags.filter(({ subject }) => subject === `fake/P-${reference}`);
    expect(own).toHaveLength(listed);
    if (isPaid) expect(own).toMatchObject([{ kind: 'not_in_books', order: undefined, money: paid }]);
    const told = await shop.database.query<{ count: number }>(
      `select count(*)::int as count from account_event where name = 'payment.unknown' and payload ->> 'provider' = 'fake'`,
    );
    expect(told[0]?.count).toBeLessThanOrEqual(1);
  });

  it('is dropped after ten minutes, with a log line', async () => {
    const reference = `ORD-NOBODY${events}.1`;
    await notify({ reference });
    await getInboxQueue(shop.host).waitUntilIdle();
    await shop.database.query(
      "update payment_notification set received_at = received_at - interval '11 min' where reference = ?",
      [reference],
    );
    await makeDue();
    await sweepPayments(shop.host);
    expect(await stored(reference)).toMatchObject([{ outcome: 'unknown_order', is_open: false }]);
  });
});

describe('a notification that cannot be processed', () => {
  it('is given up after a day of tries, whatever is wrong with it', async () => {
    const paid = { amount: 1e30, currency: 'IDR' };
    await notify({ evidence: { ...shop.fake.evidence(referenceOf(shop.order)), state: 'paid', paid } });
    await getInboxQueue(shop.host).waitUntilIdle();
    expect(await stored()).toMatchObject([{ outcome: null, is_open: true }]);
    await shop.database.query("update payment_notification set received_at = received_at - interval '25 hours'");
    await makeDue();
    await sweepPayments(shop.host);
    expect(await stored()).toMatchObject([{ outcome: null, is_open: true }]);
    await shop.database.query('update payment_notification set tries = 100');
    await makeDue();
    await sweepPayments(shop.host);
    expect(await stored()).toMatchObject([{ outcome: 'given_up', is_open: false }]);
  });
});

describe('a burst', () => {
  afterEach(() => void vi.useRealTimers());

  it('of a thousand notifications is stored in about twenty statements, while others are processed', async () => {
    // How long a statement takes is up to the machine: none is late here.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    let statements = 0;
    const storeFirst: Database['storeFirst'] = (sql, parameters) => {
      if (sql.includes('insert into payment_notification')) statements++;
      return shop.database.storeFirst(sql, parameters);
    };
    const to = createPaymentHost(Object.assign(Object.create(shop.database), { storeFirst }), [shop.fake.provider]);
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) =>
        notify({ to, key: `burst ${shop.order.id} ${n}`, reference: `ORD-BURST${n}.1` }),
      ),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(statements).toBeLessThanOrEqual(21);
    const [{ count } = { count: 0 }] = await shop.database.query<{ count: number }>(
      "select count(*)::int as count from payment_notification where reference like 'ORD-BURST%'",
    );
    expect(count).toBe(1_000);
    vi.useRealTimers();
    await getInboxQueue(to)[Symbol.asyncDispose]();
  });
});
