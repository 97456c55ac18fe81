import { describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { plugin } from '../../../plugins/xendit/index.ts';
import { createFakeXendit } from '../../support/fake-xendit.ts';
import { createUpstream } from '../../support/faulty-upstream.ts';
import { connect, providerOf, requestFor, signal } from '../payment-providers/fixture.ts';

const ours = 'ORD-7F3K2M.1';
const open = async (options: Parameters<typeof createFakeXendit>[0] = {}, settings = {}) =>
  connect(plugin, await createFakeXendit(options), settings);
const charge = { reference: ours, providerReference: 'pr-1' };
const secrets = { secret_key: 'xnd_development_x', webhook_token: 'token-of-webhooks' };

/** A connection to a Xendit that answers by path. */
async function connectTo(answers: Readonly<Record<string, unknown>>, status = 200) {
  const upstream = await createUpstream(({ path }, response) =>
    response.json(path in answers ? status : 404, answers[path] ?? { error_code: 'DATA_NOT_FOUND' }),
  );
  const host = createTestHost({ sections: { xendit: { ...secrets, base_url: upstream.url } } });
  const connection = (await providerOf(plugin)).connect(host);
  return { connection, upstream, [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose]() };
}

const asked = { payment_request_id: 'pr-1', reference_id: ours, request_amount: 25_000, currency: 'IDR' };
const paidRequest = { ...asked, status: 'SUCCEEDED', latest_payment_id: 'py-1' };
const captured = {
  ...asked,
  payment_id: 'py-1',
  status: 'SUCCEEDED',
  captures: [{ capture_id: 'c1', capture_amount: 25_000, capture_timestamp: '2026-01-02T03:04:05Z' }],
};
const statusPath = '/v3/payment_requests/pr-1';
const paymentPath = '/v3/payments/py-1';

async function statusWith(answers: Readonly<Record<string, unknown>>, paymentId?: string) {
  await using xendit = await connectTo(answers);
  return await xendit.connection.status({ ...charge, paymentId }, signal);
}

describe('a charge at Xendit', () => {
  it('is a payment request for QRIS, authorised by the secret key and a colon', async () => {
    await using xendit = await open();
    await xendit.charge();
    const [request] = xendit.fake.requests;
    expect(request?.json()).toMatchObject({
      reference_id: ours,
      type: 'PAY',
      country: 'ID',
      currency: 'IDR',
      request_amount: 25_000,
      capture_method: 'AUTOMATIC',
      channel_code: 'QRIS',
    });
    expect(request?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('xnd_production_TESTKEY:').toString('base64')}`,
      'api-version': '2024-11-11',
    });
  });

  it('has no expiry: QRIS takes none, so core cancels it', async () => {
    await using xendit = await open();
    expect((await xendit.connection.charge(requestFor(), signal)).expiresAt).toBeUndefined();
  });

  it.each([
    [400, 'API_VALIDATION_ERROR', 'rejected'],
    [400, 'PAYMENT_REQUEST_RATE_LIMITED', 'temporary'],
    [403, 'INVALID_MERCHANT_SETTINGS', 'rejected'],
    [404, 'DATA_NOT_FOUND', 'rejected'],
    [409, 'DUPLICATE_ERROR', 'unknown'],
    [429, 'RATE_LIMIT_EXCEEDED', 'temporary'],
    [500, 'SERVER_ERROR', 'unknown'],
    [503, 'CHANNEL_UNAVAILABLE', 'unknown'],
  ])('that is answered %d %s is %s', async (status, error_code, kind) => {
    await using xendit = await connectTo({ '/v3/payment_requests': { error_code, message: 'no' } }, status);
    await expect(xendit.connection.charge(requestFor(), signal)).rejects.toMatchObject({ kind });
  });

  it.each([
    ['another reference', { ...asked, reference_id: 'ORD-OTHER.1' }],
    ['another amount', { ...asked, request_amount: 1 }],
    ['another currency', { ...asked, currency: 'PHP' }],
    ['no QR code', { ...asked, actions: [] }],
  ])('that comes back with %s may exist', async (_title, body) => {
    await using xendit = await connectTo({ '/v3/payment_requests': { status: 'REQUIRES_ACTION', ...body } });
    await expect(xendit.connection.charge(requestFor(), signal)).rejects.toMatchObject({ kind: 'unknown' });
  });

  it('in test mode names the command that simulates its payment, without the key', async () => {
    await using xendit = await open({ secretKey: 'xnd_development_TESTKEY' });
    const { providerReference, qr } = await xendit.connection.charge(requestFor(), signal);
    expect(qr).toBe('some-random-qr-string');
    const command = xendit.connection.simulation?.({
      reference: ours,
      providerReference,
      amount: 25_000,
      currency: 'IDR',
    });
    expect(command).toBe(
      `curl -u "$XENDIT_SECRET_KEY:" -H 'api-version: 2024-11-11' -H 'content-type: application/json' -d '{"amount":25000}' ${xendit.fake.url}/v3/payment_requests/${providerReference}/simulate`,
    );
  });

  it('with a live key is paid by its code alone', async () => {
    await using xendit = await open();
    expect(xendit.connection.simulation).toBeUndefined();
  });

  it('that failed at once is rejected', async () => {
    await using xendit = await connectTo({ '/v3/payment_requests': { ...asked, status: 'FAILED' } });
    await expect(xendit.connection.charge(requestFor(), signal)).rejects.toMatchObject({ kind: 'rejected' });
  });
});

it('an error of Xendit quotes it, and not without end', async () => {
  const answer = { error_code: 'API_VALIDATION_ERROR', message: `no ${'x'.repeat(1_000)}` };
  await using xendit = await connectTo({ '/v3/payment_requests': answer }, 400);
  const error: unknown = await xendit.connection.charge(requestFor(), signal).catch((reason: unknown) => reason);
  expect((error as Error).message).toMatch(
    /^Xendit answered 400 API_VALIDATION_ERROR to POST \/v3\/payment_requests: no x{197}$/,
  );
});

describe('a status of Xendit', () => {
  it.each([
    ['REQUIRES_ACTION', 'pending'],
    ['ACCEPTING_PAYMENTS', 'pending'],
    ['AUTHORIZED', 'pending'],
    ['FAILED', 'failed'],
    ['CANCELED', 'failed'],
    ['EXPIRED', 'expired'],
  ])('%s means %s', async (status, state) => {
    expect((await statusWith({ [statusPath]: { ...asked, status } })).state).toBe(state);
  });

  it('in a word that is not known is read again', async () => {
    await expect(statusWith({ [statusPath]: { ...asked, status: 'PAUSED' } })).rejects.toMatchObject({
      kind: 'temporary',
    });
  });

  it('has the sum of its captures as the amount', async () => {
    const captures = [{ capture_amount: 20_000 }, { capture_amount: 5_000 }];
    const answers = { [statusPath]: paidRequest, [paymentPath]: { ...captured, captures } };
    expect((await statusWith(answers)).paid?.amount).toBe(25_000);
  });

  it('has the time of the first capture, or else of the last change, in UTC', async () => {
    const updated = '2026-01-02T09:00:00';
    const times = async (payment: object) =>
      (await statusWith({ [statusPath]: paidRequest, [paymentPath]: { ...captured, updated, ...payment } })).paidAt;
    expect(await times({})).toEqual(new Date('2026-01-02T03:04:05Z'));
    expect(await times({ captures: [{ capture_amount: 25_000 }] })).toEqual(new Date('2026-01-02T09:00:00Z'));
    expect(await times({ captures: [{ capture_amount: 25_000, capture_timestamp: 2_026 }] })).toEqual(
      new Date('2026-01-02T09:00:00Z'),
    );
  });

  it('is paid although its payment is not shown yet', async () => {
    const evidence = await statusWith({ [statusPath]: { ...asked, status: 'SUCCEEDED' } });
    expect(evidence).toMatchObject({ state: 'paid', paid: { amount: 25_000 } });
    expect(evidence.paymentId).toBeUndefined();
  });

  it('that expired is paid when its newest payment is', async () => {
    const answers = { [statusPath]: { ...paidRequest, status: 'EXPIRED' }, [paymentPath]: captured };
    expect((await statusWith(answers)).state).toBe('paid');
  });

  it('that expired is paid when the payment of a notification is', async () => {
    await using xendit = await open({ hidesLatePayments: true });
    const made = await xendit.charge();
    xendit.fake.charge(ours).state = 'expired';
    await xendit.fake.pay(ours, { isSilent: true });
    expect((await xendit.connection.status(made, signal)).state).toBe('expired');
    const notification = xendit.read(xendit.fake.notificationOf(xendit.fake.charge(ours)));
    const { paymentId } = notification ?? {};
    expect((await xendit.connection.status({ ...made, paymentId }, signal)).state).toBe('paid');
  });

  it('is not paid by the payment of another order, whatever a notification names', async () => {
    const other = { ...captured, reference_id: 'ORD-OTHER.1', payment_request_id: 'pr-2' };
    const answers = { [statusPath]: { ...asked, status: 'REQUIRES_ACTION' }, [paymentPath]: other };
    await expect(statusWith(answers, 'py-1')).rejects.toMatchObject({ kind: 'rejected' });
  });

  it('stays paid while the list of refunds cannot be read', async () => {
    await using xendit = await open();
    const made = await xendit.charge();
    await xendit.fake.pay(ours, { isSilent: true });
    xendit.fake.break({ on: /refunds/, with: 'error' });
    expect((await xendit.connection.status(made, signal)).state).toBe('paid');
  });

  it('without the reference of Xendit is unknown, and nothing is asked', async () => {
    await using xendit = await connectTo({});
    const evidence = await xendit.connection.status({ reference: ours, providerReference: undefined }, signal);
    expect([evidence.state, xendit.upstream.requests.length]).toEqual(['unknown', 0]);
  });

  it('of another request proves nothing', async () => {
    const answers = { [statusPath]: { ...asked, status: 'SUCCEEDED', payment_request_id: 'pr-2' } };
    await expect(statusWith(answers)).rejects.toMatchObject({ kind: 'rejected' });
  });

  it('of a refused account proves nothing', async () => {
    await using xendit = await open();
    const made = await xendit.charge();
    await using stranger = await connect(plugin, xendit.fake, { secret_key: 'xnd_development_OTHER' });
    await expect(stranger.connection.status(made, signal)).rejects.toMatchObject({ kind: 'rejected' });
  });
});

describe('a notification of Xendit', () => {
  const body = { event: 'payment.capture', business_id: 'b1', data: { ...captured } };
  const connection = async (settings = {}) =>
    (await providerOf(plugin)).connect(createTestHost({ sections: { xendit: { ...secrets, ...settings } } }));
  const raw = (headers: Record<string, string>, content: object = body) => ({
    headers,
    body: Buffer.from(JSON.stringify(content)),
    query: new URLSearchParams(),
  });
  const token = { 'x-callback-token': secrets.webhook_token };

  it('is named by the id in its header', async () => {
    const { readNotification } = await connection();
    expect(readNotification(raw({ ...token, 'webhook-id': 'w1' }))).toEqual({
      ...charge,
      paymentId: 'py-1',
      eventKey: 'w1',
    });
  });

  it('without an id is named by its body', async () => {
    const { readNotification } = await connection();
    const [one, same, other] = [raw(token), raw(token), raw(token, { ...body, event: 'payment.failure' })];
    expect(readNotification(one)?.eventKey).toBe(readNotification(same)?.eventKey);
    expect(readNotification(one)?.eventKey).not.toBe(readNotification(other)?.eventKey);
  });

  it.each([
    ['no token', {}],
    ['an empty token', { 'x-callback-token': '' }],
    ['a longer token', { 'x-callback-token': `${secrets.webhook_token}x` }],
    ['a token in capitals', { 'x-callback-token': secrets.webhook_token.toUpperCase() }],
  ])('is refused with %s', async (_title, headers) => {
    expect((await connection()).readNotification(raw(headers as Record<string, string>))).toBeUndefined();
  });

  it('is refused for another business', async () => {
    expect((await connection({ business_id: 'b2' })).readNotification(raw(token))).toBeUndefined();
    expect((await connection({ business_id: 'b1' })).readNotification(raw(token))).toBeDefined();
  });

  it('of a refund names refund and charge, also one level deeper', async () => {
    const refund = { payment_request_id: 'pr-1', reference_id: 'refund-1', metadata: { reference: ours } };
    const { readNotification } = await connection();
    for (const data of [refund, { event: 'refund.succeeded', data: refund }])
      expect(readNotification(raw(token, { ...body, event: 'refund.succeeded', data }))).toMatchObject({
        ...charge,
        refundKey: 'refund-1',
      });
  });

  it('of a refund from the dashboard names the charge as Xendit does', async () => {
    const data = { payment_request_id: 'pr-1', reference_id: 'x', metadata: null };
    const { readNotification } = await connection();
    expect(readNotification(raw(token, { ...body, event: 'refund.succeeded', data }))).toMatchObject({
      reference: '',
      providerReference: 'pr-1',
    });
  });
});

describe('a refund at Xendit', () => {
  const refund = { key: 'refund-1', amount: 25_000, currency: 'IDR', reason: 'asked for' };

  it('that the bank refuses has failed, and the charge stays paid', async () => {
    await using xendit = await open({ notificationUrl: 'http://127.0.0.1:9/' });
    const made = await xendit.charge();
    await xendit.fake.pay(ours, { isSilent: true });
    await xendit.connection.refund?.({ ...made, ...refund }, signal);
    await xendit.fake.finishRefund(ours, refund.key, 'failed');
    expect((await xendit.connection.refundStatus?.({ ...made, ...refund }, signal))?.state).toBe('failed');
    expect((await xendit.connection.status(made, signal)).state).toBe('paid');
  });

  it('is asked for under a key that makes it happen once', async () => {
    await using xendit = await open();
    const made = await xendit.charge();
    await xendit.fake.pay(ours, { isSilent: true });
    await xendit.connection.refund?.({ ...made, ...refund }, signal);
    const request = xendit.fake.requests.at(-1);
    expect(request?.headers['idempotency-key']).toBe(refund.key);
    expect(request?.json()).toMatchObject({ reference_id: refund.key, currency: 'IDR', metadata: { reference: ours } });
  });

  it('of a charge that Xendit does not know is unknown', async () => {
    await using xendit = await connectTo({});
    const { connection, upstream } = xendit;
    expect((await connection.refundStatus?.({ ...charge, ...refund }, signal))?.state).toBe('unknown');
    const nameless = { ...charge, ...refund, providerReference: undefined };
    expect((await connection.refundStatus?.(nameless, signal))?.state).toBe('unknown');
    expect(upstream.requests).toHaveLength(1);
  });

  it('has the time of its last change, or else that at which it was made', async () => {
    const one = { id: 'rfd-1', payment_request_id: 'pr-1', status: 'SUCCEEDED', amount: 5_000 };
    const [created, updated] = ['2026-01-02T03:00:00Z', '2026-01-02T04:00:00Z'];
    const timeOf = async (times: object) => {
      const answers = { [statusPath]: paidRequest, [paymentPath]: captured };
      return (await statusWith({ ...answers, '/refunds?payment_request_id=pr-1': { data: [{ ...one, ...times }] } }))
        .refunds?.[0]?.at;
    };
    expect(await timeOf({ created, updated })).toEqual(new Date(updated));
    expect(await timeOf({ created })).toEqual(new Date(created));
  });

  it('while another one is running is rejected', async () => {
    await using xendit = await open();
    const made = await xendit.charge();
    await xendit.fake.pay(ours, { isSilent: true });
    await xendit.connection.refund?.({ ...made, ...refund, amount: 5_000 }, signal);
    const second = xendit.connection.refund?.({ ...made, ...refund, key: 'refund-2', amount: 5_000 }, signal);
    await expect(second).rejects.toMatchObject({ kind: 'rejected' });
  });

  const updated = new Date('2026-11-28T16:30:00Z');
  it.each([
    ['SUCCEEDED', 'done'],
    ['FAILED', 'failed'],
    ['CANCELLED', 'failed'],
    ['PENDING', 'pending'],
    ['REQUIRES_ACTION', 'pending'],
  ])('that is %s is %s', async (status, state) => {
    const made = {
      id: 'rfd-1',
      payment_request_id: 'pr-1',
      payment_id: 'py-1',
      reference_id: refund.key,
      status,
      updated,
    };
    const answers = {
      [statusPath]: paidRequest,
      [paymentPath]: captured,
      '/refunds?payment_request_id=pr-1': { data: [{ ...made, amount: 25_000 }] },
    };
    await using xendit = await connectTo(answers);
    expect(await xendit.connection.refundStatus?.({ ...charge, ...refund }, signal)).toMatchObject({
      state,
      at: updated,
    });
    expect((await xendit.connection.status(charge, signal)).refunds).toMatchObject([{ id: 'rfd-1', state }]);
  });

  it('of one payment says nothing of another one of its request', async () => {
    await using xendit = await open();
    const made = await xendit.charge();
    await xendit.fake.pay(ours, { isSilent: true });
    const { paymentId } = await xendit.fake.payAgain(ours);
    await xendit.fake.refund(ours, 25_000, { paymentId, isSilent: true });
    const first = await xendit.connection.status(made, signal);
    expect([first.state, first.refunds]).toEqual(['paid', []]);
    expect(await xendit.connection.status({ ...made, paymentId }, signal)).toMatchObject({
      state: 'refunded',
      paymentId,
      refunds: [{ amount: 25_000 }],
    });
  });
});

const callsPerSecond = async (secret_key: string) =>
  (await providerOf(plugin)).connect(createTestHost({ sections: { xendit: { ...secrets, secret_key } } }))
    .callsPerSecond;

describe('xendit', () => {
  it('is asked once a second in test mode, which takes 60 calls a minute', async () => {
    expect([await callsPerSecond('xnd_development_x'), await callsPerSecond('xnd_production_x')]).toEqual([1, 10]);
  });

  it('repeats any answer that is no success, six times', async () => {
    await using gateway = await createUpstream((_request, response) => response.json(503, {}));
    await using xendit = await open({ notificationUrl: gateway.url, minute: 0.001 });
    await xendit.charge();
    await xendit.fake.pay(ours);
    await xendit.fake.idle();
    expect(gateway.requests).toHaveLength(7);
  });
});
