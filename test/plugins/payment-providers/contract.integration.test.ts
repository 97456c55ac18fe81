import { describe, expect, it } from 'vitest';
import type { StatedMovement } from '#core/business/payments/payment-provider.ts';
import { findQrProblem } from '#core/business/payments/attempts.ts';
import { readQris } from '#core/business/payments/qris.ts';
import { plugin as midtrans } from '../../../plugins/midtrans/index.ts';
import { plugin as xendit } from '../../../plugins/xendit/index.ts';
import { fakeQr } from '../../support/fake-qr.ts';
import { createFakeMidtrans } from '../../support/fake-midtrans.ts';
import { plugin as tripay } from '../../../docs/examples/tripay/index.ts';
import { createFakeTripay } from '../../support/fake-tripay.ts';
import { createFakeXendit } from '../../support/fake-xendit.ts';
import { connect, type Connected, requestFor, signal } from './fixture.ts';

/*
 * What core relies on, of every provider against its fake. The oddities of each have separate tests.
 */

const providers: Readonly<Record<string, () => Promise<Connected>>> = {
  midtrans: async () => connect(midtrans, await createFakeMidtrans()),
  xendit: async () => connect(xendit, await createFakeXendit()),
  tripay: async () => connect(tripay, await createFakeTripay()),
};

const ours = 'ORD-7F3K2M.1';

describe.each(Object.entries(providers))('%s', (_name, open) => {
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

  describe('refunds', () => {
    const refund = { key: 'refund-1', amount: 25_000, currency: 'IDR', reason: 'The buyer asked for it' };

    it('wait for the buyer’s bank, and are done after it', async () => {
      await using provider = await open();
      if (provider.connection.refund === undefined) return;
      const charge = await provider.charge();
      await provider.fake.pay(ours, { isSilent: true });
      const request = { ...charge, ...refund };
      expect((await provider.connection.refund(request, signal)).state).toBe('pending');
      provider.fake.notificationUrl = 'http://127.0.0.1:9/';
      await provider.fake.finishRefund(ours, refund.key);
      expect((await provider.connection.refundStatus?.(request, signal))?.state).toBe('done');
      expect((await provider.connection.status(charge, signal)).state).toBe('refunded');
    });

    it('that are asked for twice happen once', async () => {
      await using provider = await open();
      if (provider.connection.refund === undefined) return;
      const charge = await provider.charge();
      await provider.fake.pay(ours, { isSilent: true });
      await provider.connection.refund({ ...charge, ...refund }, signal);
      await provider.connection.refund({ ...charge, ...refund }, signal).catch(() => undefined);
      expect(provider.fake.charge(ours).refunds).toHaveLength(1);
    });

    it('of what was not paid are rejected', async () => {
      await using provider = await open();
      if (provider.connection.refund === undefined) return;
      const charge = await provider.charge();
      const call = provider.connection.refund({ ...charge, ...refund }, signal);
      await expect(call).rejects.toMatchObject({ name: 'PaymentError', kind: 'rejected' });
    });

    it('of a part leave the charge paid, and are listed with it under their key', async () => {
      await using provider = await open();
      if (provider.connection.refund === undefined) return;
      const charge = await provider.charge();
      await provider.fake.pay(ours, { isSilent: true });
      await provider.connection.refund({ ...charge, ...refund, amount: 5_000 }, signal);
      const pending = await provider.connection.status(charge, signal);
      expect(pending).toMatchObject({ state: 'paid', refunds: [{ key: 'refund-1', amount: 5_000, state: 'pending' }] });
      provider.fake.notificationUrl = 'http://127.0.0.1:9/';
      await provider.fake.finishRefund(ours, refund.key);
      const done = await provider.connection.status(charge, signal);
      expect(done).toMatchObject({ state: 'paid', refunds: [{ key: 'refund-1', amount: 5_000, state: 'done' }] });
      expect(done.refunds?.[0]?.id).toBe(pending.refunds?.[0]?.id);
    });

    it('from the dashboard are listed with names that are not those of another charge', async () => {
      await using provider = await open();
      if (provider.connection.refund === undefined) return;
      const [charge, other] = [await provider.charge(), await provider.charge({ reference: 'ORD-7F3K2M.2' })];
      const ids: unknown[] = [];
      for (const one of [charge, other]) {
        await provider.fake.pay(one.reference, { isSilent: true });
        await provider.fake.refund(one.reference, 5_000, { isSilent: true });
        await provider.fake.refund(one.reference, 20_000, { isSilent: true });
        const { state, refunds = [] } = await provider.connection.status(one, signal);
        expect([state, ...refunds.map(({ amount }) => amount)]).toEqual(['refunded', 5_000, 20_000]);
        expect(refunds.every(({ at }) => at !== undefined && Math.abs(at.getTime() - Date.now()) < 60_000)).toBe(true);
        ids.push(...refunds.map(({ id }) => id));
      }
      expect(new Set(ids).size).toBe(4);
    });

    it('that nobody has asked for are not known', async () => {
      await using provider = await open();
      if (provider.connection.refundStatus === undefined) return;
      const charge = await provider.charge();
      await provider.fake.pay(ours, { isSilent: true });
      await provider.fake.refund(ours, 5_000, { isSilent: true });
      const asked = await provider.connection.refundStatus({ ...charge, ...refund }, signal);
      expect(asked.state).toBe('unknown');
    });

    it('name their key in the notification', async () => {
      await using provider = await open();
      if (provider.connection.refund === undefined) return;
      const charge = await provider.charge();
      await provider.fake.pay(ours, { isSilent: true });
      await provider.connection.refund({ ...charge, ...refund }, signal);
      provider.fake.notificationUrl = 'http://127.0.0.1:9/';
      await provider.fake.finishRefund(ours, refund.key);
      expect(provider.read(provider.fake.notificationOf(provider.fake.charge(ours)))).toMatchObject({
        ...charge,
        refundKey: refund.key,
      });
    });
  });

  describe('lists the money of a day', () => {
    const [since, at, until] = ['2026-01-02T00:00:00Z', '2026-01-02T03:04:05Z', '2026-01-03T00:00:00Z'].map(
      (time) => new Date(time),
    ) as [Date, Date, Date];

    const list = async ({ connection }: Connected) => {
      const movements: StatedMovement[] = [];
      let next: string | undefined;
      do {
        const page = await connection.listMovements?.({ since, until }, next, signal);
        movements.push(...(page?.movements ?? []));
        next = page?.next;
      } while (next !== undefined);
      return movements;
    };

    it('with payments as evidence names them, over all pages, and none of another day', async () => {
      await using provider = await open();
      if (provider.connection.listMovements === undefined) return;
      const expected: unknown[] = [];
      for (let number = 1; number <= 120; number++) {
        const charge = await provider.charge({ reference: `ORD-7F3K2M.${number}` });
        const paidAt = number > 117 ? until : new Date(at.getTime() + number);
        await provider.fake.pay(charge.reference, { at: paidAt, isSilent: true });
        if (number > 117) continue;
        const { paymentId } = number === 1 ? await provider.connection.status(charge, signal) : {};
        expected.push([charge.reference, paymentId ?? expect.any(String), 25_000, 'IDR', paidAt]);
      }
      const listed = (await list(provider)).toSorted((one, other) => Number(one.at) - Number(other.at));
      expect(listed.map((one) => [one.reference, one.id, one.amount, one.currency, one.at])).toEqual(expected);
      expect(listed.every(({ fee, kind }) => kind === 'payment' && (fee === undefined || fee > 0))).toBe(true);
    });

    it('with done refunds as evidence names them, of the gateway and of the dashboard', async () => {
      await using provider = await open();
      if (provider.connection.listMovements === undefined) return;
      const charge = await provider.charge();
      await provider.fake.pay(ours, { isSilent: true });
      const request = { ...charge, key: 'ORD-7F3K2M-R1', amount: 5_000, currency: 'IDR', reason: '' };
      await provider.connection.refund?.(request, signal);
      provider.fake.notificationUrl = 'http://127.0.0.1:9/';
      await provider.fake.finishRefund(ours, request.key);
      await provider.fake.refund(ours, 3_000, { isSilent: true });
      const { refunds = [] } = await provider.connection.status(charge, signal);
      const now = { since: new Date(Date.now() - 60_000), until: new Date(Date.now() + 60_000) };
      const page = await provider.connection.listMovements(now, undefined, signal);
      const back = page.movements.filter(({ kind }) => kind === 'refund');
      expect(back.map(({ id, amount }) => [id, amount]).toSorted()).toEqual(
        refunds.map(({ id, amount }) => [id, amount]).toSorted(),
      );
      expect(back.find(({ amount }) => amount === 5_000)?.key).toBe(request.key);
      const { providerReference } = charge;
      expect(back.find(({ amount }) => amount === 3_000)).toMatchObject({ providerReference });
    });

    it.each(['error', 'html', 'cut', 'reset', 'rate-limit'] as const)('or fails with %s', async (fault) => {
      await using provider = await open();
      if (provider.connection.listMovements === undefined) return;
      provider.fake.break({ on: /^GET/, with: fault });
      const call = provider.connection.listMovements({ since, until }, undefined, signal);
      await expect(call).rejects.toMatchObject({ name: 'PaymentError', kind: 'temporary' });
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
    expect(findQrProblem({ price: request.amount, currency: request.currency }, charge)).toContain('its QR code');
  });
});
