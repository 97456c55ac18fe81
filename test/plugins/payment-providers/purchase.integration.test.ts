import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { startOrder } from '#core/business/payments/checkout.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { createFakeMidtrans } from '../../support/fake-midtrans.ts';
import type { FakeProvider } from '../../support/fake-provider.ts';
import { createFakeTripay } from '../../support/fake-tripay.ts';
import { createFakeXendit, type FakeXendit } from '../../support/fake-xendit.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { PageClient } from '../../support/page-client.ts';

/*
 * Orders of whole gateways: a notification of the provider arrives at the route, and the days are there.
 */

const tripay = fileURLToPath(new URL('../../../docs/examples/tripay/index.ts', import.meta.url));

interface Shop extends AsyncDisposable {
  readonly fake: FakeProvider;
  readonly gateway: TestGateway;
  /** Orders a day. @returns the code of the order, and the reference at the provider */
  order(): Promise<{ readonly code: string; readonly reference: string }>;
  stateOf(code: string): Promise<string | undefined>;
  daysLeft(): Promise<number>;
}

async function open(fake: FakeProvider, yaml = ''): Promise<Shop> {
  const section = `${fake.name}: ${JSON.stringify(fake.section)}`;
  const gateway = await startGateway({
    yaml: `${yamlFor('http://127.0.0.1:9')}\npayments: { provider: ${fake.name} }\n${section}\n${yaml}`,
  });
  const { host } = gateway.gateway;
  return {
    fake,
    gateway,
    async order() {
      const { code, attempt } = await startOrder(host, gateway.accountId, 1);
      const reference = attempt?.reference ?? '';
      // Charges name the public URL of the gateway, which here nobody reaches.
      Object.assign(fake.charge(reference), { notificationUrl: `${gateway.url}/hooks/${fake.name}` });
      return { code, reference };
    },
    stateOf: async (code) => (await readOrder(gateway.database, { code }))?.state,
    async daysLeft() {
      const [row] = await gateway.database.query<{ days: number }>(
        `select extract(epoch from max(ends_at) - now())::float8 / 86400 as days from plan_period where account_id = ?`,
        [gateway.accountId],
      );
      return row?.days ?? 0;
    },
    async [Symbol.asyncDispose]() {
      await fake[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

/** What the notification of this event did. */
async function processed({ gateway }: Shop, eventKey: string): Promise<string | undefined> {
  const [row] = await gateway.database.query<{ outcome: string }>(
    'select outcome from payment_notification where event_key = ?',
    [eventKey],
  );
  return row?.outcome;
}

const eventually = { timeout: 15_000, interval: 50 };

describe.each([
  ['midtrans', () => createFakeMidtrans(), ''],
  ['xendit', () => createFakeXendit(), ''],
  ['tripay', () => createFakeTripay(), `plugins: ["${tripay}"]`],
] as const)('an order at %s', (_name, create, yaml) => {
  it('is paid once, whatever arrives how often', async () => {
    await using shop = await open(await create(), yaml);
    const { code, reference } = await shop.order();
    const charge = shop.fake.charge(reference);
    const forged = await shop.fake.send(shop.fake.forgeryOf(charge), reference);
    const foreign = await shop.fake.send(shop.fake.foreignOf(charge), reference);
    expect([forged.status, foreign.status]).toEqual([403, 403]);
    await shop.fake.pay(reference);
    const answers = await shop.fake.notify(reference, 20);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await vi.waitFor(async () => expect(await shop.stateOf(code)).toBe('paid'), eventually);
    expect(await shop.daysLeft()).toBeCloseTo(2, 1);
    expect(await readOrder(shop.gateway.database, { code })).toMatchObject({ payments: [{ outcome: 'activated' }] });
  });
});

describe('an order at xendit', () => {
  it('that was paid after its end is activated by the payment that only the notification names', async () => {
    await using shop = await open(await createFakeXendit({ hidesLatePayments: true }));
    const { code, reference } = await shop.order();
    shop.fake.charge(reference).state = 'expired';
    await shop.fake.pay(reference);
    await vi.waitFor(async () => expect(await shop.stateOf(code)).toBe('paid'), eventually);
  });

  it('keeps its days when a second payment is refunded, and the capture of the first is sent again', async () => {
    await using shop = await open(await createFakeXendit());
    const fake = shop.fake as FakeXendit;
    const { code, reference } = await shop.order();
    const order = () => readOrder(shop.gateway.database, { code });
    await fake.pay(reference);
    await vi.waitFor(async () => expect(await shop.stateOf(code)).toBe('paid'), eventually);
    const { paymentId, notification } = await fake.payAgain(reference);
    await fake.send(notification, reference);
    await vi.waitFor(async () => expect((await order())?.payments).toHaveLength(2), eventually);
    await fake.refund(reference, undefined, { paymentId });
    await vi.waitFor(async () => expect((await order())?.refunds).toHaveLength(1), eventually);
    const resent = { ...fake.captureOf(fake.charge(reference)), headers: fake.headersOf('resent') };
    await fake.send(resent, reference);
    await vi.waitFor(async () => expect(await processed(shop, 'resent')).toBe('unchanged'), eventually);
    expect(await order()).toMatchObject({
      state: 'paid',
      payments: [{ outcome: 'activated' }, { outcome: 'second', paymentId }],
      refunds: [{ state: 'done', days: 'none' }],
      flags: [{ kind: 'second_payment', resolvedAt: expect.any(Date) as Date }],
    });
    expect(await shop.daysLeft()).toBeCloseTo(2, 1);
  });
});

describe('an order at the sandbox', () => {
  it('is paid on the page that stands for the bank', async () => {
    await using gateway = await startGateway({ yaml: yamlFor('http://127.0.0.1:9') });
    const { code, attempt } = await startOrder(gateway.gateway.host, gateway.accountId, 1);
    const path = `/sandbox/${attempt?.reference}`;
    const browser = new PageClient(gateway.url);
    expect((await browser.submit(path, path, { action: 'pay' })).status).toBe(303);
    const stateOf = async () => (await readOrder(gateway.database, { code }))?.state;
    await vi.waitFor(async () => expect(await stateOf()).toBe('paid'), eventually);
  });
});
