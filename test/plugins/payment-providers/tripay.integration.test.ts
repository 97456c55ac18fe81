import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { plugin } from '../../../docs/examples/tripay/index.ts';
import { createFakeTripay } from '../../support/fake-tripay.ts';
import { connect, providerOf, requestFor, signal } from './fixture.ts';

const ours = 'ORD-7F3K2M.1';
const open = async () => connect(plugin, await createFakeTripay());

describe('docs/examples/tripay', () => {
  it('imports nothing but daypass and Node', () => {
    const source = readFileSync(new URL('../../../docs/examples/tripay/index.ts', import.meta.url), 'utf8');
    const imports = [...source.matchAll(/from '([^']+)'/g)].map(([, name]) => name);
    expect(new Set(imports)).toEqual(new Set(['node:crypto', 'daypass']));
  });

  it('signs a charge as in the worked example', async () => {
    await using tripay = await open();
    await tripay.charge({ reference: 'ORD-7F3K2M', amount: 25_000 });
    expect(tripay.fake.requests[0]?.json()).toMatchObject({
      merchant_ref: 'ORD-7F3K2M',
      signature: '73345275385ea39d58c3e1b7c8d750d567f3b5468ae521d859e39c778a08d498',
    });
  });

  it('states what is to be paid, and when the charge ends', async () => {
    await using tripay = await open();
    const expiresAt = new Date('2030-01-02T03:04:05Z');
    const charge = await tripay.connection.charge(requestFor({ expiresAt }), signal);
    expect(charge).toMatchObject({ expiresAt, total: { amount: 25_000, currency: 'IDR' } });
  });

  it('reads a notification as evidence, because its signature covers the body', async () => {
    await using tripay = await open();
    await tripay.charge();
    await tripay.fake.pay(ours, { isSilent: true, at: new Date('2026-01-02T03:04:05Z') });
    const sent = tripay.fake.notificationOf(tripay.fake.charge(ours));
    expect(tripay.read(sent)?.evidence).toMatchObject({
      state: 'paid',
      paid: { amount: 25_000, currency: 'IDR' },
      paidAt: new Date('2026-01-02T03:04:05Z'),
    });
    expect(tripay.read({ ...sent, body: sent.body.replace('PAID', 'UNPAID') })).toBeUndefined();
  });

  it('refuses other events, whatever their signature', async () => {
    await using tripay = await open();
    await tripay.charge();
    const sent = tripay.fake.notificationOf(tripay.fake.charge(ours));
    expect(tripay.read({ ...sent, headers: { ...sent.headers, 'x-callback-event': 'other' } })).toBeUndefined();
  });

  it('refuses a signed body that is no object', async () => {
    await using tripay = await open();
    for (const body of ['[]', 'null', '{"a":', '{}']) {
      const signature = createHmac('sha256', 'PRIVKEY').update(body).digest('hex');
      const headers = { 'x-callback-event': 'payment_status', 'x-callback-signature': signature };
      expect(tripay.read({ headers, body })).toBeUndefined();
    }
  });

  it('answers notifications as Tripay expects', async () => {
    await using tripay = await open();
    expect(tripay.connection.acknowledgement).toMatchObject({ status: 200, body: '{"success":true}' });
  });

  it('connects to nothing without its keys', async () => {
    const provider = await providerOf(plugin);
    expect(() => provider.connect(createTestHost())).toThrow('tripay lacks a key');
  });
});
