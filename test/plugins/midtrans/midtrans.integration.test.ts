import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readQris } from '#core/business/payments/qris.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { createIdempotencyHeader } from '../../../plugins/midtrans/api.ts';
import { plugin } from '../../../plugins/midtrans/index.ts';
import { parseLocalTime, formatLocalTime } from '../../../plugins/midtrans/local-time.ts';
import { createFakeMidtrans } from '../../support/fake-midtrans.ts';
import { createUpstream } from '../../support/faulty-upstream.ts';
import { connect, providerOf, requestFor, signal } from '../payment-providers/fixture.ts';

const ours = 'ORD-7F3K2M.1';
const open = async (options: Parameters<typeof createFakeMidtrans>[0] = {}, settings = {}) =>
  connect(plugin, await createFakeMidtrans(options), settings);

/** A connection to a Midtrans that answers with this body. */
async function connectTo(body: unknown, status = 200) {
  const upstream = await createUpstream((_request, response) => response.json(status, body));
  const sections = { midtrans: { server_key: 'SB-Mid-server-TESTKEY', base_url: upstream.url, merchant_id: 'G1' } };
  const connection = (await providerOf(plugin)).connect(createTestHost({ sections, now: Date.now() }));
  return { connection, upstream, [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose]() };
}

const settled = {
  status_code: '200',
  transaction_id: 'M1',
  order_id: ours,
  merchant_id: 'G1',
  gross_amount: '25000.00',
  currency: 'IDR',
  transaction_status: 'settlement',
  transaction_time: '2026-01-02 10:00:00',
  settlement_time: '2026-01-02 10:04:05',
};
const charge = { reference: ours, providerReference: 'M1' };

/** What a status proves that differs from a settlement in this. */
const statusOf = async (change: object) => {
  await using midtrans = await connectTo({ ...settled, ...change });
  return await midtrans.connection.status(charge, signal);
};

const read = async (body: object) => {
  await using midtrans = await connectTo({});
  const notification = { headers: {}, body: Buffer.from(JSON.stringify(body)), query: new URLSearchParams() };
  return midtrans.connection.readNotification(notification);
};

describe('a charge at Midtrans', () => {
  it('has the amount as a number, items that add up to it, and the acquirer', async () => {
    await using midtrans = await open({}, { acquirer: 'airpay shopee' });
    await midtrans.charge();
    expect(midtrans.fake.requests[0]?.json()).toMatchObject({
      payment_type: 'qris',
      transaction_details: { order_id: ours, gross_amount: 25_000 },
      item_details: [{ price: 25_000, quantity: 1, name: 'Daypass, 7 days' }],
      qris: { acquirer: 'airpay shopee' },
    });
  });

  it('is authorised by the server key and a colon', async () => {
    await using midtrans = await open();
    await midtrans.charge();
    const authorization = `Basic ${Buffer.from('SB-Mid-server-TESTKEY:').toString('base64')}`;
    expect(midtrans.fake.requests[0]?.headers).toMatchObject({ authorization, accept: 'application/json' });
  });

  it('ends when the order does, whatever the clock of this machine says', async () => {
    const expiresAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 1_800_000);
    for (const hours of [-1, 0, 1]) {
      await using fake = await createFakeMidtrans();
      const host = createTestHost({ now: Date.now() + hours * 3_600_000, sections: { midtrans: fake.section } });
      const connection = (await providerOf(plugin)).connect(host);
      expect((await connection.charge(requestFor({ expiresAt }), signal)).expiresAt).toEqual(expiresAt);
    }
  });

  it.each([
    [1_800, 1_800],
    [60, 900],
    [-60, 900],
  ])(
    'with %i seconds left is asked for with a window of %i that ends then, and never of less',
    async (left, window) => {
      await using fake = await createFakeMidtrans();
      const now = Date.parse('2026-01-02T03:04:05Z');
      const host = createTestHost({ now, sections: { midtrans: fake.section } });
      const expiresAt = new Date(now + left * 1_000);
      await (await providerOf(plugin)).connect(host).charge(requestFor({ expiresAt }), signal);
      const asked = fake.requests[0]?.json<{ custom_expiry: { order_time: string } }>().custom_expiry;
      expect(asked).toMatchObject({ expiry_duration: window, unit: 'second' });
      expect(parseLocalTime(asked?.order_time)?.getTime()).toBe(expiresAt.getTime() - window * 1_000);
    },
  );

  it('is made once although it is asked for twice within five minutes', async () => {
    await using midtrans = await open();
    midtrans.fake.break({ on: /charge/, with: 'reset', isApplied: true });
    await expect(midtrans.connection.charge(requestFor(), signal)).rejects.toMatchObject({ kind: 'unknown' });
    const again = await midtrans.connection.charge(requestFor(), signal);
    expect([midtrans.fake.charges.size, again.qr]).toEqual([1, midtrans.fake.charge(ours).qr]);
  });

  it('that is asked for again after five minutes may exist (406)', async () => {
    let now = Date.now();
    await using midtrans = await open({ now: () => now });
    await midtrans.charge();
    now += 300_001;
    await expect(midtrans.connection.charge(requestFor(), signal)).rejects.toMatchObject({ kind: 'unknown' });
  });

  it('has the address of an image where there is no payload', async () => {
    await using midtrans = await open({ hasQrString: false });
    const { qr, paymentUrl } = await midtrans.connection.charge(requestFor(), signal);
    expect([qr, paymentUrl?.startsWith('https://api.sandbox.veritrans.co.id/')]).toEqual([undefined, true]);
  });

  it.each(['https://ai.example.com/hooks/midtrans', 'http://127.0.0.1:9/hooks/midtrans'])(
    'names where its notifications go, on this machine to a Midtrans of tests: %s',
    async (notificationUrl) => {
      await using midtrans = await open();
      await midtrans.charge({ notificationUrl });
      expect(midtrans.fake.charge(ours).notificationUrl).toBe(notificationUrl);
    },
  );

  it('has no key that Midtrans would ignore', () => {
    expect(createIdempotencyHeader('x'.repeat(46))).toEqual({ 'idempotency-key': 'x'.repeat(46) });
    expect(createIdempotencyHeader('x'.repeat(47))).toEqual({});
  });

  it.each([
    ['a wrong key (401)', { status_code: '401', status_message: 'Unknown Merchant' }, 'rejected'],
    [
      'a channel that is not active (402)',
      { status_code: '402', status_message: 'Payment channel is not activated.' },
      'rejected',
    ],
    ['a validation (400)', { status_code: '400', validation_messages: ['x'] }, 'rejected'],
    ['a failure reported in HTTP 200', { status_code: '500', status_message: 'Sorry' }, 'unknown'],
    ['a running first request (202)', { status_code: '202' }, 'unknown'],
    ['a denial', { ...settled, status_code: '202', transaction_status: 'deny' }, 'rejected'],
    ['another order', { ...settled, status_code: '201', order_id: 'ORD-OTHER.1' }, 'unknown'],
    ['another amount', { ...settled, status_code: '201', gross_amount: '1.00', qr_string: '0002' }, 'unknown'],
    ['no QR code', { ...settled, status_code: '201' }, 'unknown'],
    ['JSON without a code', { hello: 'world' }, 'unknown'],
    ['a code that is not one', { status_code: 'OK' }, 'unknown'],
  ])('fails on %s', async (_title, body, kind) => {
    await using midtrans = await connectTo(body);
    await expect(midtrans.connection.charge(requestFor(), signal)).rejects.toMatchObject({ kind });
  });

  it('fails on the error of a proxy without a code', async () => {
    await using midtrans = await connectTo({ message: 'no' }, 403);
    await expect(midtrans.connection.charge(requestFor(), signal)).rejects.toMatchObject({ kind: 'rejected' });
  });

  it('does not put the key or the answer’s length into the error', async () => {
    await using midtrans = await connectTo({ status_code: '400', status_message: 'x'.repeat(5_000) });
    const error: unknown = await midtrans.connection.charge(requestFor(), signal).catch((reason: unknown) => reason);
    expect((error as Error).message).not.toContain('TESTKEY');
    expect((error as Error).message.length).toBeLessThan(400);
  });
});

describe('a status of Midtrans', () => {
  it.each([
    ['pending', '201', 'pending'],
    ['SETTLEMENT', '200', 'paid'],
    ['capture', '200', 'paid'],
    ['expire', '202', 'expired'],
    ['expire', '407', 'expired'],
    ['deny', '202', 'failed'],
    ['cancel', '200', 'failed'],
    ['failure', '202', 'failed'],
    ['refund', '200', 'refunded'],
    ['partial_refund', '200', 'disputed'],
    ['chargeback', '200', 'disputed'],
    ['partial_chargeback', '200', 'disputed'],
  ])('%s with code %s means %s', async (transaction_status, status_code, state) => {
    expect((await statusOf({ transaction_status, status_code })).state).toBe(state);
  });

  it('is paid only with code 200 and without suspicion of fraud', async () => {
    expect((await statusOf({ fraud_status: 'accept' })).state).toBe('paid');
    expect((await statusOf({ fraud_status: 'challenge' })).state).toBe('pending');
    expect((await statusOf({ fraud_status: 'deny' })).state).toBe('disputed');
    expect((await statusOf({ status_code: '201' })).state).toBe('disputed');
  });

  it('has times of GMT+7, which it does not say', async () => {
    expect((await statusOf({})).paidAt).toEqual(new Date('2026-01-02T03:04:05Z'));
  });

  it('is expired with code 407, whatever else it says', async () => {
    expect(await statusOf({ status_code: '407', transaction_status: undefined })).toMatchObject({ state: 'expired' });
  });

  it('has no issuer and the currency of the country where it states none in words', async () => {
    const { issuer, paid } = await statusOf({ issuer: 5, currency: '' });
    expect([issuer, paid]).toEqual([undefined, { amount: 25_000, currency: 'IDR' }]);
  });

  it('in a word that is not known is read again', async () => {
    await expect(statusOf({ transaction_status: 'paused' })).rejects.toMatchObject({ kind: 'temporary' });
  });

  it.each([
    ['order', { order_id: 'ORD-OTHER.1' }],
    ['transaction', { transaction_id: 'M2' }],
    ['merchant', { merchant_id: 'G2' }],
  ])('of another %s proves nothing', async (_title, change) => {
    await expect(statusOf(change)).rejects.toMatchObject({ kind: 'rejected' });
  });

  it('of a refused account proves nothing', async () => {
    await using midtrans = await open();
    const made = await midtrans.charge();
    await using stranger = await connect(plugin, midtrans.fake, { server_key: 'SB-Mid-server-OTHER' });
    await expect(stranger.connection.status(made, signal)).rejects.toMatchObject({ kind: 'rejected' });
  });
});

/** What a status says of its refunds. */
const refundsOf = async (transaction_status: string, refunds: readonly object[] | undefined) => {
  await using midtrans = await connectTo({ ...settled, transaction_status, ...(refunds && { refunds }) });
  const { state, refunds: listed } = await midtrans.connection.status(charge, signal);
  return { state, refunds: listed?.map(({ key, amount, state: of }) => [key, amount, of]) };
};
const localTime = (ageMs: number) => formatLocalTime(new Date(Date.now() - ageMs)).slice(0, 19);
const hour = 3_600_000;
/** A refund that the bank has not confirmed. */
const aged = (age: number) => [{ refund_key: 'R1', refund_amount: '25000.00', created_at: localTime(age) }];

describe('refunds of Midtrans', () => {
  it('are asked for with the reason, at most 255 characters of it', async () => {
    await using midtrans = await connectTo({ ...settled, refunds: [] });
    const refund = { reference: ours, providerReference: 'M1', paymentId: 'M1', key: 'R1', amount: 5_000 };
    await midtrans.connection.refund?.({ ...refund, currency: 'IDR', reason: 'r'.repeat(300) } as never, signal);
    expect(midtrans.upstream.requests[0]?.json()).toEqual({ refund_key: 'R1', amount: 5_000, reason: 'r'.repeat(255) });
  });

  it('are done when the bank has confirmed them, and pending before that', async () => {
    const refunds = [
      { refund_key: 'R1', refund_amount: '5000.00', created_at: localTime(hour), bank_confirmed_at: localTime(0) },
      { refund_key: 'R2', refund_amount: '20000.00', created_at: localTime(hour) },
    ];
    expect(await refundsOf('refund', refunds)).toEqual({
      state: 'paid',
      refunds: [
        ['R1', 5_000, 'done'],
        ['R2', 20_000, 'pending'],
      ],
    });
  });

  it('are pending without the confirmation of the bank, however old they are', async () => {
    expect(await refundsOf('refund', aged(10_000 * hour))).toEqual({
      state: 'paid',
      refunds: [['R1', 25_000, 'pending']],
    });
  });

  it('without a key or an amount in whole rupiah are left to the operator', async () => {
    const refunds = [{ refund_amount: '5000.00' }, { refund_key: 'R1', refund_amount: '5000.50' }];
    expect(await refundsOf('partial_refund', refunds)).toEqual({ state: 'paid', refunds: [] });
    expect(await refundsOf('partial_refund', undefined)).toEqual({ state: 'disputed', refunds: undefined });
  });

  it('do not hide a chargeback', async () => {
    const refunds = [{ refund_key: 'R1', refund_amount: '5000.00', bank_confirmed_at: localTime(0) }];
    expect((await refundsOf('chargeback', refunds)).state).toBe('disputed');
  });

  it('of another key are not the one that was asked about', async () => {
    const refunds = [{ refund_key: 'R1', refund_amount: '25000.00', bank_confirmed_at: localTime(0) }];
    await using midtrans = await connectTo({ ...settled, transaction_status: 'refund', refunds });
    const stateOf = async (key: string) =>
      (await midtrans.connection.refundStatus?.({ ...charge, key, amount: 1, currency: 'IDR', reason: '' }, signal))
        ?.state;
    expect([await stateOf('R1'), await stateOf('R2')]).toEqual(['done', 'unknown']);
  });
});

it('a refund at Midtrans is dated by the confirmation of the bank', async () => {
  const refunds = [
    {
      refund_key: 'R1',
      refund_amount: '25000.00',
      created_at: '2026-11-28 14:00:00',
      bank_confirmed_at: '2026-11-28 23:30:00',
    },
  ];
  await using midtrans = await connectTo({ ...settled, transaction_status: 'refund', refunds });
  const request = { ...charge, key: 'R1', amount: 25_000, currency: 'IDR', reason: '' };
  expect((await midtrans.connection.refundStatus?.(request, signal))?.at).toEqual(new Date('2026-11-28T16:30:00Z'));
});

describe('a notification of Midtrans', () => {
  /** The vector of the reference: order, code, amount and key have this signature. */
  const vector = {
    order_id: 'ORD-7F3K2M',
    status_code: '200',
    gross_amount: '25000.00',
    merchant_id: 'G1',
    transaction_id: 'M1',
    transaction_status: 'settlement',
    signature_key:
      '0eb6b9d9ecf630a3bb6b305ee6639ed330c023b390f8d6a3de739fe6fe238b30dd38f6b9e929871f1145d1fbb5d46187fc944df557f602795708f2ebc4b26aac',
  };
  it('has the signature of the worked example', async () => {
    expect(await read(vector)).toMatchObject({ reference: 'ORD-7F3K2M', providerReference: 'M1' });
  });

  it.each([
    ['the amount without its decimals', { gross_amount: '25000' }],
    ['the amount as a number', { gross_amount: 25_000 }],
    ['another code', { status_code: '201' }],
    ['a signature in capitals', { signature_key: vector.signature_key.toUpperCase() }],
    ['a cut signature', { signature_key: vector.signature_key.slice(0, 64) }],
    ['no signature', { signature_key: undefined }],
    ['an empty signature', { signature_key: '' }],
    ['another merchant', { merchant_id: 'G2' }],
    ['no merchant', { merchant_id: undefined }],
  ])('is refused with %s', async (_title, change) => {
    expect(await read({ ...vector, ...change })).toBeUndefined();
  });

  it.each(['order_id', 'status_code', 'gross_amount'] as const)(
    'is refused without %s, however it is signed',
    async (name) => {
      const change = { ...vector, [name]: undefined };
      const signed = `${change.order_id}${change.status_code}${change.gross_amount}SB-Mid-server-TESTKEY`;
      const signature_key = createHash('sha512').update(signed).digest('hex');
      expect(await read({ ...change, signature_key })).toBeUndefined();
    },
  );

  it('proves no state: refund and settlement have the same signature', async () => {
    for (const transaction_status of ['settlement', 'refund', 'cancel'])
      expect((await read({ ...vector, transaction_status }))?.evidence).toBeUndefined();
  });

  it('with another body is another event, so that a replay hides nothing', async () => {
    const [settlement, cancel] = [await read(vector), await read({ ...vector, transaction_status: 'cancel' })];
    expect(settlement?.eventKey).not.toBe(cancel?.eventKey);
  });

  it('may have unknown members', async () => {
    expect(await read({ ...vector, metadata: { extra: [1] }, new_member: null })).toBeDefined();
  });
});

describe('the fake Midtrans', () => {
  it('repeats what we answer with 503 four times, and with 500 once', async () => {
    for (const [status, count] of [
      [503, 5],
      [500, 2],
      [404, 3],
      [200, 1],
      [403, 6],
    ] as const) {
      await using gateway = await createUpstream((_request, response) => response.json(status, {}));
      await using midtrans = await open({ notificationUrl: gateway.url, minute: 0.01 });
      await midtrans.charge({ notificationUrl: gateway.url });
      await midtrans.fake.pay(ours);
      await midtrans.fake.idle();
      expect([status, gateway.requests.length]).toEqual([status, count]);
    }
  });

  it('draws codes that a wallet reads', async () => {
    await using midtrans = await open();
    await midtrans.charge();
    expect(readQris(midtrans.fake.charge(ours).qr).merchantName).toBe('FAKE MIDTRANS');
  });
});

describe('times of Midtrans', () => {
  it.each([
    ['2026-01-02 10:00:00', '2026-01-02T03:00:00Z'],
    ['2026-01-02 03:00:00Z', '2026-01-02T03:00:00Z'],
    ['2026-01-02T10:00:00+0700', '2026-01-02T03:00:00Z'],
    ['2026-01-02 04:00:00 +01:00', '2026-01-02T03:00:00Z'],
    ['2025-12-31 23:59:59', '2025-12-31T16:59:59Z'],
  ])('%s are GMT+7 unless they say otherwise', (text, time) => expect(parseLocalTime(text)).toEqual(new Date(time)));

  it.each(['02/01/2026 10:00', '2026-13-02 10:00:00', '', 1_767_225_600, null])('%s are not times', (value) => {
    expect(parseLocalTime(value)).toBeUndefined();
  });

  it('are written with their zone', () => {
    expect(formatLocalTime(new Date('2025-12-31T20:00:00Z'))).toBe('2026-01-01 03:00:00 +0700');
  });
});
