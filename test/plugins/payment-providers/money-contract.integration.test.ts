import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChargeReference, PaymentConnection, StatedMovement } from '#core/business/payments/payment-provider.ts';
import { payCharge } from '../../../plugins/payments/sandbox/charges.ts';
import { sandboxProvider } from '../../../plugins/payments/sandbox/provider.ts';
import { createFakeMidtrans } from '../../support/fake-midtrans.ts';
import type { FakeFault, FakeProvider } from '../../support/fake-provider.ts';
import { createFakeXendit, FakeXendit } from '../../support/fake-xendit.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { hasPlugin, ownPlugin } from '../../support/own-plugin.ts';
import { connect, type Connected, requestFor, signal } from './fixture.ts';

/*
 * What core relies on where money goes back, and where a provider lists what came and went: every provider that can do it.
 */

/** A provider, and the ways in which a test moves money there. What is left out does not exist there. */
interface Bank extends AsyncDisposable {
  readonly connection: PaymentConnection;
  charge(reference?: string): Promise<ChargeReference>;
  pay(reference: string, at?: Date): Promise<void>;
  /** @returns the id of another payment of the same charge */
  payAgain?(reference: string): Promise<string>;
  /** From the provider's dashboard. */
  giveBack?(reference: string, amount: number, paymentId?: string): Promise<void>;
  /** The buyer's bank confirms a refund, or refuses it; without it, a refund is done at once. */
  decide?(reference: string, key: string, state: 'done' | 'failed'): Promise<void>;
  /** Midtrans does not say that a bank has refused. */
  readonly saysFailed: boolean;
  break?(fault: FakeFault): void;
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: yamlFor('http://127.0.0.1:9') });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function bankOf({ fake, ...connected }: Connected<FakeProvider>): Promise<Bank> {
  // Nobody takes its notifications.
  fake.notificationUrl = 'http://127.0.0.1:9/';
  return {
    ...connected,
    charge: (reference = ours) => connected.charge({ reference }),
    pay: (reference, at) => fake.pay(reference, { isSilent: true, ...(at !== undefined && { at }) }),
    giveBack: (reference, amount, paymentId) =>
      fake.refund(reference, amount, { isSilent: true, ...(paymentId !== undefined && { paymentId }) }),
    decide: (reference, key, state) => fake.finishRefund(reference, key, state),
    break: (fault) => fake.break(fault),
    saysFailed: fake instanceof FakeXendit,
    ...(fake instanceof FakeXendit && {
      payAgain: async (reference: string) => (await fake.payAgain(reference)).paymentId,
    }),
  };
}

/** With the charges and refunds of no earlier test. */
async function openSandbox(): Promise<Bank> {
  const { database, gateway: running } = gateway;
  await database.query('truncate payments_sandbox_charge, payments_sandbox_refund');
  const connection = sandboxProvider.connect(running.host);
  return {
    connection,
    saysFailed: false,
    async charge(reference = ours) {
      const { providerReference } = await connection.charge(requestFor({ reference }), signal);
      return { reference, providerReference };
    },
    async pay(reference, at) {
      await payCharge(database, reference, 25_000);
      if (at !== undefined)
        await database.query('update payments_sandbox_charge set paid_at = ? where reference = ?', [at, reference]);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const all: Readonly<Record<string, () => Promise<Bank>>> = {
  midtrans: async () => bankOf(await connect(await ownPlugin('midtrans'), await createFakeMidtrans())),
  xendit: async () => bankOf(await connect(await ownPlugin('xendit'), await createFakeXendit())),
  sandbox: openSandbox,
};
const banks = Object.fromEntries(Object.entries(all).filter(([name]) => name === 'sandbox' || hasPlugin(name)));

const ours = 'ORD-7F3K2M.1';
const terms = { key: 'ORD-7F3K2M-R1', amount: 25_000, currency: 'IDR', reason: 'The buyer asked for it' };

/** A charge that has been paid. */
async function paid({ charge, pay }: Bank, reference = ours): Promise<ChargeReference> {
  const made = await charge(reference);
  await pay(reference);
  return made;
}

/** Asks for a refund, which the buyer's bank then confirms. */
async function refund({ connection, decide }: Bank, of: ChargeReference, change: Partial<typeof terms> = {}) {
  const request = { ...of, ...terms, ...change };
  await connection.refund?.(request, signal);
  await decide?.(of.reference, request.key, 'done');
}

async function list({ connection }: Bank, since: Date, until: Date): Promise<StatedMovement[]> {
  const movements: StatedMovement[] = [];
  let next: string | undefined;
  do {
    const page = await connection.listMovements?.({ since, until }, next, signal);
    movements.push(...(page?.movements ?? []));
    next = page?.next;
  } while (next !== undefined);
  return movements;
}

describe.each(Object.entries(banks))('a refund at %s', (_name, open) => {
  it('of the whole is done when the buyer’s bank has confirmed it, and then all is back', async () => {
    await using bank = await open();
    const charge = await paid(bank);
    const request = { ...charge, ...terms };
    const asked = await bank.connection.refund?.(request, signal);
    expect(asked?.state).toBe(bank.decide === undefined ? 'done' : 'pending');
    expect((await bank.connection.status(charge, signal)).state).toBe(bank.decide === undefined ? 'refunded' : 'paid');
    await bank.decide?.(ours, terms.key, 'done');
    expect((await bank.connection.refundStatus?.(request, signal))?.state).toBe('done');
    expect((await bank.connection.status(charge, signal)).state).toBe('refunded');
  });

  it('of a part leaves the charge paid, and is listed with it under its key and one name', async () => {
    await using bank = await open();
    const charge = await paid(bank);
    await bank.connection.refund?.({ ...charge, ...terms, amount: 5_000 }, signal);
    const [asked] = (await bank.connection.status(charge, signal)).refunds ?? [];
    expect(asked).toMatchObject({ key: terms.key, amount: 5_000 });
    await bank.decide?.(ours, terms.key, 'done');
    const done = await bank.connection.status(charge, signal);
    expect(done).toMatchObject({ state: 'paid', paid: { amount: 25_000 } });
    expect(done.refunds).toMatchObject([{ id: asked?.id, key: terms.key, amount: 5_000, state: 'done' }]);
  });

  it('of one part after the other gives all back, and then no more', async () => {
    await using bank = await open();
    const charge = await paid(bank);
    await refund(bank, charge, { key: 'ORD-7F3K2M-R1', amount: 20_000 });
    await refund(bank, charge, { key: 'ORD-7F3K2M-R2', amount: 5_000 });
    const { state, refunds = [] } = await bank.connection.status(charge, signal);
    expect([state, refunds.map(({ key, amount }) => [key, amount])]).toEqual([
      'refunded',
      [
        ['ORD-7F3K2M-R1', 20_000],
        ['ORD-7F3K2M-R2', 5_000],
      ],
    ]);
    const third = bank.connection.refund?.({ ...charge, ...terms, key: 'ORD-7F3K2M-R3', amount: 1 }, signal);
    await expect(third).rejects.toMatchObject({ name: 'PaymentError', kind: 'rejected' });
  });

  it('of more than was paid is rejected', async () => {
    await using bank = await open();
    const charge = await paid(bank);
    const call = bank.connection.refund?.({ ...charge, ...terms, amount: 25_001 }, signal);
    await expect(call).rejects.toMatchObject({ name: 'PaymentError', kind: 'rejected' });
  });

  it('of what was not paid is rejected', async () => {
    await using bank = await open();
    const call = bank.connection.refund?.({ ...(await bank.charge()), ...terms }, signal);
    await expect(call).rejects.toMatchObject({ name: 'PaymentError', kind: 'rejected' });
  });

  it('that is asked for twice happens once', async () => {
    await using bank = await open();
    const charge = await paid(bank);
    await bank.connection.refund?.({ ...charge, ...terms, amount: 5_000 }, signal);
    await bank.connection.refund?.({ ...charge, ...terms, amount: 5_000 }, signal).catch(() => undefined);
    expect((await bank.connection.status(charge, signal)).refunds).toHaveLength(1);
  });

  it('that was not requested is unknown', async () => {
    await using bank = await open();
    const charge = await paid(bank);
    await refund(bank, charge, { amount: 5_000 });
    const other = { ...charge, ...terms, key: 'ORD-7F3K2M-R2' };
    expect((await bank.connection.refundStatus?.(other, signal))?.state).toBe('unknown');
  });

  it('that the buyer’s bank refuses has failed, and may be asked for again under another key', async ({ skip }) => {
    await using bank = await open();
    if (!bank.saysFailed) return skip();
    const charge = await paid(bank);
    await bank.connection.refund?.({ ...charge, ...terms }, signal);
    await bank.decide?.(ours, terms.key, 'failed');
    expect((await bank.connection.refundStatus?.({ ...charge, ...terms }, signal))?.state).toBe('failed');
    expect(await bank.connection.status(charge, signal)).toMatchObject({
      state: 'paid',
      refunds: [{ state: 'failed' }],
    });
    await refund(bank, charge, { key: 'ORD-7F3K2M-R2' });
    expect((await bank.connection.status(charge, signal)).state).toBe('refunded');
  });

  it('of a second payment is stated with that one, and not with the first', async ({ skip }) => {
    await using bank = await open();
    const { payAgain, giveBack } = bank;
    if (payAgain === undefined || giveBack === undefined) return skip();
    const charge = await paid(bank);
    const paymentId = await payAgain(ours);
    await giveBack(ours, 25_000, paymentId);
    expect(await bank.connection.status(charge, signal)).toMatchObject({ state: 'paid', refunds: [] });
    expect(await bank.connection.status({ ...charge, paymentId }, signal)).toMatchObject({
      paymentId,
      state: 'refunded',
      refunds: [{ amount: 25_000, state: 'done' }],
    });
  });

  it('from the dashboard is listed with its time, under a name that no other charge’s has', async ({ skip }) => {
    await using bank = await open();
    const { giveBack, connection } = bank;
    if (giveBack === undefined) return skip();
    const ids: unknown[] = [];
    for (const reference of [ours, 'ORD-7F3K2M.2']) {
      const charge = await paid(bank, reference);
      await giveBack(reference, 5_000);
      await giveBack(reference, 20_000);
      const { state, refunds = [] } = await connection.status(charge, signal);
      expect([state, ...refunds.map(({ amount }) => amount)]).toEqual(['refunded', 5_000, 20_000]);
      expect(refunds.every(({ at }) => at !== undefined && Math.abs(at.getTime() - Date.now()) < 60_000)).toBe(true);
      ids.push(...refunds.map(({ id }) => id));
    }
    expect(new Set(ids).size).toBe(4);
  });

  it.for(['error', 'html', 'cut', 'reset'] as const)('may have happened after %s', async (fault, { skip }) => {
    await using bank = await open();
    if (bank.break === undefined) return skip();
    const request = { ...(await paid(bank)), ...terms };
    bank.break({ on: /^POST .*refund/, with: fault, isApplied: true });
    await expect(bank.connection.refund?.(request, signal)).rejects.toMatchObject({ kind: 'unknown' });
    expect((await bank.connection.refundStatus?.(request, signal))?.state).toBe('pending');
  });

  it('did not happen after a rate limit, which says when to come again', async ({ skip }) => {
    await using bank = await open();
    if (bank.break === undefined) return skip();
    const request = { ...(await paid(bank)), ...terms };
    const tooMany = { name: 'PaymentError', kind: 'temporary', isRateLimited: true, retryAfter: 7 };
    bank.break({ with: 'rate-limit', retryAfter: 7 });
    await expect(bank.connection.refund?.(request, signal)).rejects.toMatchObject(tooMany);
    bank.break({ with: 'rate-limit', retryAfter: 7 });
    await expect(bank.connection.refundStatus?.(request, signal)).rejects.toMatchObject(tooMany);
    expect((await bank.connection.refundStatus?.(request, signal))?.state).toBe('unknown');
  });

  it.for(['error', 'html', 'cut', 'reset'] as const)(
    'is not called failed because its status fails with %s',
    async (fault, { skip }) => {
      await using bank = await open();
      if (bank.break === undefined) return skip();
      const request = { ...(await paid(bank)), ...terms };
      await bank.connection.refund?.(request, signal);
      bank.break({ on: /^GET/, with: fault });
      await expect(bank.connection.refundStatus?.(request, signal)).rejects.toMatchObject({ kind: 'temporary' });
    },
  );
});

describe.each(Object.entries(banks))('a call to %s', (_name, open) => {
  it.for(['status', 'cancel', 'refund', 'refundStatus', 'listMovements'] as const)(
    'ends at its deadline: %s',
    async (name, { skip }) => {
      await using bank = await open();
      const { connection } = bank;
      if (bank.break === undefined || connection[name] === undefined) return skip();
      const request = { ...(await paid(bank)), ...terms };
      bank.break({ with: 'hang' });
      const deadline = AbortSignal.timeout(100);
      const call =
        name === 'listMovements'
          ? connection.listMovements?.({ since: new Date(0), until: new Date() }, undefined, deadline)
          : connection[name]?.(request, deadline);
      await expect(call).rejects.toMatchObject({ name: 'PaymentError' });
    },
  );
});

/** Midtrans has no list: core reads the status of each of its charges. */
const withList = Object.entries(banks).filter(([name]) => name !== 'midtrans');

describe.each(withList)('the list of a day at %s', (_name, open) => {
  const [since, at, until] = ['2026-01-02T00:00:00Z', '2026-01-02T03:04:05Z', '2026-01-03T00:00:00Z'].map(
    (time) => new Date(time),
  ) as [Date, Date, Date];

  it('has payments as evidence names them, over all pages, and none of another day', async () => {
    await using bank = await open();
    const expected: unknown[] = [];
    for (let number = 1; number <= 120; number++) {
      const charge = await bank.charge(`ORD-7F3K2M.${number}`);
      const paidAt = number > 117 ? until : new Date(at.getTime() + number);
      await bank.pay(charge.reference, paidAt);
      if (number > 117) continue;
      const { paymentId } = number === 1 ? await bank.connection.status(charge, signal) : {};
      expected.push([charge.reference, paymentId ?? expect.any(String), 25_000, 'IDR', paidAt]);
    }
    const listed = (await list(bank, since, until)).toSorted((one, other) => Number(one.at) - Number(other.at));
    expect(listed.map((one) => [one.reference, one.id, one.amount, one.currency, one.at])).toEqual(expected);
    expect(listed.every(({ fee, kind }) => kind === 'payment' && (fee === undefined || fee > 0))).toBe(true);
  });

  it('ends with its last page', async () => {
    await using bank = await open();
    await paid(bank);
    const now = { since: new Date(Date.now() - 60_000), until: new Date(Date.now() + 60_000) };
    const page = await bank.connection.listMovements?.(now, undefined, signal);
    expect([page?.movements.length, page?.next]).toEqual([1, undefined]);
  });

  it('has each payment of a charge that was paid twice', async ({ skip }) => {
    await using bank = await open();
    const { payAgain, connection } = bank;
    if (payAgain === undefined) return skip();
    const { paymentId: first } = await connection.status(await paid(bank), signal);
    const second = await payAgain(ours);
    const listed = await list(bank, new Date(Date.now() - 60_000), new Date(Date.now() + 60_000));
    expect(listed.map(({ id, reference }) => [id, reference]).toSorted()).toEqual(
      [
        [first, ours],
        [second, ours],
      ].toSorted(),
    );
  });

  it('has done refunds as evidence names them, and none that is under way', async () => {
    await using bank = await open();
    const { connection, giveBack } = bank;
    const charge = await paid(bank);
    await refund(bank, charge, { amount: 5_000 });
    await giveBack?.(ours, 3_000);
    const { refunds = [] } = await connection.status(charge, signal);
    if (bank.decide !== undefined)
      await connection.refund?.({ ...charge, ...terms, key: 'ORD-7F3K2M-R2', amount: 2_000 }, signal);
    const listed = await list(bank, new Date(Date.now() - 60_000), new Date(Date.now() + 60_000));
    const back = listed.filter(({ kind }) => kind === 'refund');
    expect(back.map(({ id, amount }) => [id, amount]).toSorted()).toEqual(
      refunds.map(({ id, amount }) => [id, amount]).toSorted(),
    );
    expect(back.find(({ amount }) => amount === 5_000)?.key).toBe(terms.key);
    if (giveBack === undefined) return;
    const { providerReference } = charge;
    expect(back.find(({ amount }) => amount === 3_000)).toMatchObject({ providerReference });
  });

  it.for(['error', 'html', 'cut', 'reset', 'rate-limit'] as const)(
    'is read again after %s',
    async (fault, { skip }) => {
      await using bank = await open();
      if (bank.break === undefined) return skip();
      bank.break({ on: /^GET/, with: fault });
      const call = bank.connection.listMovements?.({ since, until }, undefined, signal);
      await expect(call).rejects.toMatchObject({ name: 'PaymentError', kind: 'temporary' });
    },
  );
});
