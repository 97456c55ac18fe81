import { describe, expect, it } from 'vitest';
import { findQrProblem } from '#core/business/payments/qr-check.ts';
import { readQris } from '#core/business/payments/qris.ts';
import { plugin as tripay } from '../../../docs/examples/tripay/index.ts';
import { createFakeMidtrans } from '../../support/fake-midtrans.ts';
import { fakeQr } from '../../support/fake-qr.ts';
import { createFakeTripay } from '../../support/fake-tripay.ts';
import { createFakeXendit } from '../../support/fake-xendit.ts';
import { hasPlugin, ownPlugin } from '../../support/own-plugin.ts';
import { connect, type Connected, requestFor, signal } from './fixture.ts';

/*
 * What core relies on, of every provider against its fake: charges and notifications here, money that goes back and its lists in
 * `money-contract`. The oddities of each have separate tests.
 */

const providers: Readonly<Record<string, () => Promise<Connected>>> = {
  midtrans: async () => connect(await ownPlugin('midtrans'), await createFakeMidtrans()),
  xendit: async () => connect(await ownPlugin('xendit'), await createFakeXendit()),
  tripay: async () => connect(tripay, await createFakeTripay()),
};

const ours = 'ORD-7F3K2M.1';

const here = Object.entries(providers).filter(([name]) => name === 'tripay' || hasPlugin(name));

describe.each(here)('%s', (_name, open) => {
  it('creates a charge whose QR code is of that amount', async () => {
    await using provider = await open();
    const charge = await provider.connection.charge(requestFor(), signal);
    expect(charge.providerReference).toBe(provider.fake.charge(ours).providerReference);
    expect(readQris(charge.qr ?? '')).toMatchObject({ isDynamic: true, amount: 25_000 });
  });

  it('reads pending before payment, and paid with amount, time and payment after it', async () => {
    await using provider = await open();
    const charge = await provider.charge();
    expect(await provider.connection.status(charge, signal)).toMatchObject({ ...charge, state: 'pending' });
    const at = new Date('2026-01-02T03:04:05Z');
    await provider.fake.pay(ours, { at, isSilent: true });
    const paid = await provider.connection.status(charge, signal);
    expect(paid).toMatchObject({
      ...charge,
      state: 'paid',
      paid: { amount: 25_000, currency: 'IDR' },
      paidAt: at,
      issuer: expect.any(String) as string,
      paymentId: expect.any(String) as string,
    });
    expect(await provider.connection.status(charge, signal)).toMatchObject({ paymentId: paid.paymentId });
  });

  it('reads the amount that was paid, not the one that was asked', async () => {
    await using provider = await open();
    const charge = await provider.charge();
    await provider.fake.pay(ours, { amount: '1000', isSilent: true });
    expect((await provider.connection.status(charge, signal)).paid).toEqual({ amount: 1_000, currency: 'IDR' });
  });

  it('reads the currency that was paid', async () => {
    await using provider = await open();
    const charge = await provider.charge();
    await provider.fake.pay(ours, { currency: 'USD', isSilent: true });
    expect((await provider.connection.status(charge, signal)).paid).toEqual({ amount: 25_000, currency: 'USD' });
  });

  it('calls a payment in parts of a rupiah disputed', async () => {
    await using provider = await open();
    const charge = await provider.charge();
    await provider.fake.pay(ours, { amount: '25000.50', isSilent: true });
    const evidence = await provider.connection.status(charge, signal);
    expect([evidence.state, evidence.paid]).toEqual(['disputed', undefined]);
  });

  it('reads expired and failed charges', async () => {
    await using provider = await open();
    const first = await provider.charge();
    const second = await provider.charge({ reference: 'ORD-7F3K2M.2' });
    provider.fake.charge(first.reference).state = 'expired';
    provider.fake.charge(second.reference).state = 'failed';
    expect((await provider.connection.status(first, signal)).state).toBe('expired');
    expect((await provider.connection.status(second, signal)).state).toBe('failed');
  });

  it('reads a payment after expiry as paid', async () => {
    await using provider = await open();
    const charge = await provider.charge();
    provider.fake.charge(ours).state = 'expired';
    await provider.fake.pay(ours, { isSilent: true });
    expect((await provider.connection.status(charge, signal)).state).toBe('paid');
  });

  it('does not know a charge that was never made', async () => {
    await using provider = await open();
    const charge = { reference: 'ORD-NEVER.1', providerReference: undefined };
    expect(await provider.connection.status(charge, signal)).toMatchObject({ ...charge, state: 'unknown' });
  });

  it('ends a charge, and says what became of it', async () => {
    await using provider = await open();
    const charge = await provider.charge();
    const { cancel } = provider.connection;
    expect((await cancel?.(charge, signal))?.state ?? 'failed').toMatch(/^(failed|expired)$/);
  });

  it('does not end a charge that has been paid meanwhile', async () => {
    await using provider = await open();
    const charge = await provider.charge();
    await provider.fake.pay(ours, { isSilent: true });
    expect((await provider.connection.cancel?.(charge, signal))?.state ?? 'paid').toBe('paid');
  });

  it('says what became of a charge although the answer to its end was lost', async () => {
    await using provider = await open();
    const charge = await provider.charge();
    provider.fake.break({ on: /^POST .*(cancel|expire)/, with: 'error', isApplied: true });
    expect((await provider.connection.cancel?.(charge, signal))?.state ?? 'failed').toBe('failed');
  });

  describe('recognises a notification', () => {
    it('of a payment, by both references', async () => {
      await using provider = await open();
      const charge = await provider.charge();
      await provider.fake.pay(ours, { isSilent: true });
      const notification = provider.fake.notificationOf(provider.fake.charge(ours));
      expect(provider.read(notification)).toMatchObject(charge);
    });

    it('that arrives again as the same event, and another state as another', async () => {
      await using provider = await open();
      await provider.charge();
      const pending = provider.read(provider.fake.notificationOf(provider.fake.charge(ours)));
      await provider.fake.pay(ours, { isSilent: true });
      const sent = provider.fake.notificationOf(provider.fake.charge(ours));
      expect(provider.read(sent)?.eventKey).toBe(provider.read(sent)?.eventKey);
      expect(provider.read(sent)?.eventKey).not.toBe(pending?.eventKey);
    });

    it('without evidence, unless its signature covers all of it', async () => {
      await using provider = await open();
      await provider.charge();
      await provider.fake.pay(ours, { isSilent: true });
      const sent = provider.fake.notificationOf(provider.fake.charge(ours));
      const evidence = provider.read(sent)?.evidence;
      if (evidence === undefined) return;
      expect(evidence).toMatchObject({ state: 'paid', paid: { amount: 25_000, currency: 'IDR' } });
      expect(provider.read({ ...sent, body: sent.body.replace('25000', '1') })).toBeUndefined();
    });

    it('of a refund, which names its key', async () => {
      await using provider = await open();
      if (provider.connection.refund === undefined) return;
      const charge = await provider.charge();
      await provider.fake.pay(ours, { isSilent: true });
      const refund = { key: 'refund-1', amount: 25_000, currency: 'IDR', reason: 'The buyer asked for it' };
      await provider.connection.refund({ ...charge, ...refund }, signal);
      provider.fake.notificationUrl = 'http://127.0.0.1:9/';
      await provider.fake.finishRefund(ours, refund.key);
      expect(provider.read(provider.fake.notificationOf(provider.fake.charge(ours)))).toMatchObject({
        ...charge,
        refundKey: refund.key,
      });
    });
  });

  describe('refuses a notification', () => {
    it('with a wrong signature', async () => {
      await using provider = await open();
      await provider.charge();
      expect(provider.read(provider.fake.forgeryOf(provider.fake.charge(ours)))).toBeUndefined();
    });

    it('for another merchant', async () => {
      await using provider = await open();
      await provider.charge();
      expect(provider.read(provider.fake.foreignOf(provider.fake.charge(ours)))).toBeUndefined();
    });

    it('without headers, without a body, cut, or with other JSON', async () => {
      await using provider = await open();
      await provider.charge();
      const { headers, body } = provider.fake.notificationOf(provider.fake.charge(ours));
      expect(provider.read({ headers, body: '' })).toBeUndefined();
      expect(provider.read({ headers: {}, body: '{}' })).toBeUndefined();
      expect(provider.read({ headers: {}, body: '[null]' })).toBeUndefined();
      expect(provider.read({ headers, body: body.slice(0, body.length / 2) })).toBeUndefined();
    });
  });

  describe('says that a charge may exist', () => {
    it.each(['error', 'html', 'cut', 'reset'] as const)('after %s', async (fault) => {
      await using provider = await open();
      provider.fake.break({ on: /^POST/, with: fault, isApplied: true });
      const call = provider.connection.charge(requestFor(), signal);
      await expect(call).rejects.toMatchObject({ name: 'PaymentError', kind: 'unknown' });
    });

    it('after a provider that hangs until the deadline', async () => {
      await using provider = await open();
      provider.fake.break({ with: 'hang' });
      const call = provider.connection.charge(requestFor(), AbortSignal.timeout(100));
      await expect(call).rejects.toMatchObject({ name: 'PaymentError', kind: 'unknown' });
    });
  });

  describe('never says that a charge is unpaid', () => {
    it.each(['error', 'html', 'cut', 'reset', 'rate-limit'] as const)(
      'because its status fails with %s',
      async (fault) => {
        await using provider = await open();
        const charge = await provider.charge();
        provider.fake.break({ on: /^GET/, with: fault });
        const call = provider.connection.status(charge, signal);
        await expect(call).rejects.toMatchObject({ name: 'PaymentError', kind: 'temporary' });
      },
    );
  });

  it('ends every call with its deadline, where the provider sends nothing', async () => {
    await using provider = await open();
    const charge = await provider.charge();
    await provider.fake.pay(ours, { isSilent: true });
    const request = { ...charge, key: 'ORD-7F3K2M-R1', amount: 1_000, currency: 'IDR', reason: 'asked for' };
    const span = { since: new Date(Date.now() - 3_600_000), until: new Date(Date.now() + 3_600_000) };
    const { connection } = provider;
    provider.fake.break({ with: 'hang', times: 100 });
    const end = AbortSignal.timeout(100);
    const calls = [
      connection.status(charge, end),
      connection.cancel?.(charge, end),
      connection.refund?.(request, end),
      connection.refundStatus?.(request, end),
      connection.listMovements?.(span, undefined, end),
    ].filter((call) => call !== undefined);
    const results = await Promise.allSettled(calls);
    const rejected = results.filter((result) => result.status === 'rejected');
    expect(rejected.map(({ reason }) => (reason as Error).name)).toEqual(calls.map(() => 'PaymentError'));
  });

  it('says that a rate limit made no charge, and when to come again', async () => {
    await using provider = await open();
    provider.fake.break({ with: 'rate-limit' });
    const call = provider.connection.charge(requestFor(), signal);
    await expect(call).rejects.toMatchObject({ kind: 'temporary', retryAfter: 3 });
  });

  it('waits after a rate limit, and makes the charge', async () => {
    await using provider = await open();
    provider.fake.break({ with: 'rate-limit', times: 1, retryAfter: 0 });
    const charge = await provider.chargeInTurn();
    expect(charge.providerReference).toBe(provider.fake.charge(ours).providerReference);
    expect(provider.fake.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  it.each([
    ['for another amount', () => fakeQr(ours, 1)],
    ['that is garbage', () => 'garbage'],
  ])('hands a payload on to core, which refuses one %s', async (_title, lie) => {
    await using provider = await open();
    provider.fake.qrOf = lie;
    const request = requestFor();
    const charge = await provider.connection.charge(request, signal);
    expect(findQrProblem({ price: request.amount, currency: request.currency }, charge)).toMatchObject({
      text: expect.stringContaining('its QR code') as string,
      isShown: false,
    });
  });
});

it('core takes a charge that has a page of the provider in place of a payload', () => {
  const charge = { providerReference: 'T1', paymentUrl: 'https://provider.example/pay/T1' };
  expect(findQrProblem({ price: 25_000, currency: 'IDR' }, charge)).toBeUndefined();
});
