import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { cancelOrder, checkOrderAsBuyer, startOrder } from '#core/business/payments/checkout.ts';
import { expireOrder } from '#core/business/payments/expiry.ts';
import { readGiftCode } from '#core/business/payments/gifts.ts';
import { receiveNotification } from '#core/business/payments/inbox.ts';
import { listMovements } from '#core/business/payments/movements.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { settleOverdueRefunds } from '#core/business/payments/refund-status.ts';
import { closeRefund, refundPayment } from '#core/business/payments/refunds.ts';
import type { Database } from '#core/platform/database/database.ts';
import { FakeProvider } from '../core/business/payments/fake-provider.ts';
import { createPaymentHost } from '../core/business/payments/fixture.ts';
import { redeemCode } from '../support/redeem-code.ts';
import {
  type DaysBack,
  ModelAccount,
  ModelOrder,
  type ModelPayment,
  type ModelRefund,
  type StatedRefund,
} from './sequence-model.ts';

/*
 * Random business over two instances on one database, against a model. The database's clock is a row that only this file
 * moves: with it, days are equal to the microsecond and not nearly.
 */

/**
 * SQL that makes the clock of statements the time of the model. Run it before the database is opened. Immutable, which holds within a statement:
 * time moves between them, and each is planned anew. So a statement reads the clock once, while it is planned, instead of for every row
 * that it visits, which took 33 µs each. No function of the product in PL/pgSQL, whose plans are kept, reads a clock.
 */
export function clockOf(database: string): string {
  const clocks = ['clock_timestamp', 'statement_timestamp', 'now'];
  const functions = clocks.map(
    (name) =>
      `create function model_clock.${name}() returns timestamptz language sql immutable as 'select at from model_clock.now';`,
  );
  return `
    create schema model_clock;
    create table model_clock.now (at timestamptz not null);
    insert into model_clock.now values (date_trunc('second', pg_catalog.clock_timestamp()));
    ${functions.join('\n')}
    do $$
    declare stamped record;
    begin
      for stamped in select table_name, column_name, column_default from information_schema.columns
        where table_schema = 'public' and column_default in ('clock_timestamp()', 'now()')
      loop
        execute format('alter table public.%I alter column %I set default model_clock.%s',
          stamped.table_name, stamped.column_name, stamped.column_default);
      end loop;
    end $$;
    alter database ${database} set search_path = model_clock, public, pg_catalog`;
}

/** What happens next to one buyer. Numbers choose among what there is. */
export interface Step {
  readonly kind:
    | 'buy'
    | 'buy a gift'
    | 'redeem'
    | 'pay'
    | 'pay again'
    | 'give back'
    | 'refund'
    | 'by hand'
    | 'finish'
    | 'close'
    | 'grant'
    | 'delete'
    | 'cancel'
    | 'check'
    | 'expire'
    | 'deliver';
  readonly pick: number;
  readonly other: number;
  readonly amount: number; // of a hundred
}

const kinds: readonly { readonly weight: number; readonly value: Step['kind'] }[] = [
  { weight: 5, value: 'buy' },
  { weight: 4, value: 'buy a gift' },
  { weight: 4, value: 'redeem' },
  { weight: 6, value: 'pay' },
  { weight: 3, value: 'pay again' },
  { weight: 3, value: 'give back' },
  { weight: 6, value: 'refund' },
  { weight: 2, value: 'by hand' },
  { weight: 4, value: 'finish' },
  { weight: 1, value: 'close' },
  { weight: 1, value: 'grant' },
  { weight: 1, value: 'delete' },
  { weight: 1, value: 'cancel' },
  { weight: 1, value: 'check' },
  { weight: 1, value: 'expire' },
  { weight: 4, value: 'deliver' },
];

export const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(...kinds.map(({ weight, value }) => ({ weight, arbitrary: fc.constant(value) }))),
  pick: fc.nat(1_000),
  other: fc.nat(1_000),
  amount: fc.nat(100),
});

/** µs between two steps, for all buyers. */
export const pause: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: 6_000_000, max: 60_000_000 }),
  fc.integer({ min: 6_000_000, max: 4 * 86_400 * 1_000_000 }),
);

type Host = ReturnType<typeof createPaymentHost>;

/** The provider, and two instances of a gateway. */
export class World {
  readonly database: Database;
  readonly provider: FakeProvider;
  readonly hosts: readonly [Host, Host];
  now = 0n; // µs

  constructor(database: Database) {
    this.database = database;
    this.provider = new FakeProvider(`bank${randomUUID().slice(0, 8)}`);
    this.provider.listsRefunds = true;
    this.provider.listMoney();
    const host = () => createPaymentHost(database, [this.provider.provider], { payments: { gifts: true } });
    this.hosts = [host(), host()];
  }

  async advance(microseconds: number): Promise<void> {
    const [row] = await this.database.query<{ now: string }>(
      `update model_clock.now set at = at + make_interval(secs => ?::float8 / 1000000)
       returning (extract(epoch from at) * 1000000)::bigint::text as now`,
      [microseconds],
    );
    this.now = BigInt(row?.now ?? 0);
  }

  /** Both instances receive it at once, one of them twice under another name. */
  async deliver(reference: string, paymentId: string | undefined): Promise<void> {
    const send = (host: Host, key: string) =>
      receiveNotification(host, this.provider.name, {
        headers: { 'x-secret': 'right' },
        body: Buffer.from(JSON.stringify({ reference, key, paymentId })),
        query: new URLSearchParams(),
      });
    const [one, other] = [randomUUID(), randomUUID()];
    const [first, second] = this.hosts;
    await Promise.all([send(first, one), send(second, one), send(second, other)]);
    await this.#processed(reference);
  }

  /** What is under way at the provider is asked about, by both instances at once. */
  async sweepRefunds(): Promise<void> {
    await this.database.query(
      `update refund set next_check_at = clock_timestamp() where state in ('asked', 'sent') and next_check_at is not null`,
    );
    await Promise.all(this.hosts.map((host) => settleOverdueRefunds(host, 1_000)));
  }

  async #processed(reference: string): Promise<void> {
    for (;;) {
      const [row] = await this.database.query<{ waiting: number }>(
        'select count(*)::int as waiting from payment_notification where reference = ? and next_try_at is not null',
        [reference],
      );
      if (row?.waiting === 0) return;
    }
  }
}

/** One buyer in the world, and in the model. */
export class Buyer {
  readonly #world: World;
  readonly #accountId: string;
  readonly #friendId: string;
  readonly #model = new ModelAccount();
  /** Gets gifts, and nothing else. */
  readonly #friend = new ModelAccount();
  /** Notifications on their way. */
  readonly #mail: { order: ModelOrder; paymentId: string }[] = [];

  private constructor(world: World, accountId: string, friendId: string) {
    this.#world = world;
    this.#accountId = accountId;
    this.#friendId = friendId;
  }

  static async create(world: World): Promise<Buyer> {
    const { accountId } = await createAccount(world.database, 'dp', { name: 'Ani' });
    const friend = await createAccount(world.database, 'dp', { name: 'Budi' });
    return new Buyer(world, accountId, friend.accountId);
  }

  async take({ kind, pick, other, amount }: Step): Promise<void> {
    if (kind === 'buy' || kind === 'buy a gift') return this.#buy(pick, kind === 'buy a gift');
    if (kind === 'redeem') return this.#redeem(pick, other);
    if (kind === 'grant') return this.#grant(1 + (pick % 30));
    if (kind === 'delete') return this.#delete(pick);
    const order = this.#model.orders[pick % Math.max(1, this.#model.orders.length)];
    if (order === undefined) return;
    if (kind === 'pay') return this.#pay(order, other);
    if (kind === 'pay again') return this.#payAgain(order, other);
    if (kind === 'cancel') return this.#cancel(order);
    if (kind === 'check') return this.#check(order);
    if (kind === 'expire') return this.#expire(order);
    if (kind === 'deliver') return this.#deliver(pick, other);
    const payments = [...this.#paymentsAt(order).keys()];
    const paymentId = payments[other % Math.max(1, payments.length)];
    if (paymentId === undefined) return;
    if (kind === 'give back') return this.#giveBack(order, paymentId, amount);
    if (kind === 'finish') return this.#finish(order, paymentId, other);
    if (kind === 'close') return this.#close(order, paymentId, other);
    await this.#refund(order, paymentId, amount, other, kind === 'by hand');
  }

  /** After a sweep of the refunds: each that is under way is asked for again, or about. */
  applySweep(): void {
    for (const order of this.#model.orders)
      for (const refund of order.refunds.filter(({ state, isManual }) => /asked|sent/.test(state) && !isManual))
        if (!refund.isLeft) this.#pursue(order, refund);
  }

  /** Asks for a refund whose answer was lost once more, and about any other that is under way. */
  #pursue(order: ModelOrder, refund: ModelRefund): void {
    const { now } = this.#world;
    if (refund.state === 'sent') {
      this.#observe(order, refund.payment.id);
      return this.#model.leave(order, refund, now);
    }
    const stated = this.#charge(order).refunds.get(refund.key);
    if (stated?.state === 'done') this.#model.finish(order, refund, now);
    else if (stated?.state === 'failed') this.#model.fail(order, refund, now);
    else refund.state = 'sent'; // it has yet to be asked about
  }

  /** All that the provider knows arrives at last. */
  async settle(): Promise<void> {
    for (const order of this.#model.orders)
      for (const paymentId of this.#paymentsAt(order).keys()) {
        await this.#world.deliver(this.#reference(order), paymentId);
        this.#observe(order, paymentId);
      }
  }

  /** @returns what differs between database and model */
  async compare(): Promise<{ readonly seen: unknown; readonly expected: unknown }> {
    const { database } = this.#world;
    const seen = [];
    for (const { id } of this.#model.orders) {
      const order = await readOrder(database, { id });
      const name = new Map(order?.payments.map((payment) => [payment.id, payment.paymentId]));
      seen.push({
        state: order?.state,
        isLate: order?.isLate,
        gift: order?.gift?.state,
        payments: order?.payments.map(({ paymentId, amount, outcome }) => [paymentId, amount, outcome]).toSorted(),
        refunds: order?.refunds
          .map((one) => [one.key, name.get(one.paymentId), one.amount, one.state, one.days, one.isManual])
          .toSorted(),
        flags: order?.flags
          .map(({ kind, subject, resolvedAt }) => `${kind} ${subject} ${resolvedAt !== undefined}`)
          .toSorted(),
      });
    }
    const expected = this.#model.orders.map((order) => ({
      state: order.state,
      isLate: order.isLate,
      gift: order.giftState(this.#world.now),
      payments: [...order.payments.values()].map(({ id, amount, outcome }) => [id, amount, outcome]).toSorted(),
      refunds: order.refunds
        .map(({ key, payment, amount, state, days, isManual }) => [key, payment.id, amount, state, days, isManual])
        .toSorted(),
      flags: [...order.flags].map(([flag, isResolved]) => `${flag} ${isResolved}`).toSorted(),
    }));
    return {
      seen: {
        orders: seen,
        periods: await this.#periods(this.#accountId),
        friend: await this.#periods(this.#friendId),
        books: await this.#books(),
      },
      expected: {
        orders: expected,
        periods: expectedPeriods(this.#model),
        friend: expectedPeriods(this.#friend),
        books: this.#expectedBooks(),
      },
    };
  }

  async #buy(pick: number, isGift: boolean): Promise<void> {
    const days = [1, 7, 30, 200][pick % 4] ?? 1;
    try {
      const order = await startOrder(this.#world.hosts[pick % 2 === 0 ? 0 : 1], this.#accountId, days, { isGift });
      if (!this.#model.orders.some(({ id }) => id === order.id)) this.#model.orders.push(new ModelOrder(order));
    } catch (error) {
      if (!(error instanceof CheckoutError)) throw error;
    }
  }

  /** By a friend, by the buyer, or by both at once, of whom one may get the days; each twice at once, on two instances. */
  async #redeem(pick: number, other: number): Promise<void> {
    const gifts = this.#model.orders.filter(({ gift }) => gift !== undefined);
    const order = gifts[pick % Math.max(1, gifts.length)];
    if (order === undefined) return;
    const { database, now } = this.#world;
    const kept = await readOrder(database, { id: order.id });
    const code = kept && (await readGiftCode(database, kept))?.written;
    if ((code !== undefined) !== (order.giftState(now) === 'open'))
      throw new Error(`the code of ${order.code}: ${code}, expected of one that is ${order.giftState(now)}`);
    if (code === undefined) return;
    const both = [
      { id: this.#friendId, model: this.#friend },
      { id: this.#accountId, model: this.#model },
    ];
    const redeemers = other % 3 === 0 ? both : both.slice(other % 3 === 1 ? 0 : 1).slice(0, 1);
    const won = await Promise.all(
      redeemers.map(async ({ id, model }) => {
        const twice = await Promise.all([redeemOnce(database, id, code), redeemOnce(database, id, code)]);
        return twice.includes(true) ? [model] : [];
      }),
    );
    const [winner, second] = won.flat();
    if (second !== undefined) throw new Error(`the gift ${order.code} was redeemed twice`);
    if (winner?.redeem(order, now) === false) throw new Error(`the gift ${order.code} was redeemed`);
    if (winner === undefined && redeemers.some(({ model }) => model.redeem(order, now)))
      throw new Error(`the gift ${order.code} was refused`);
  }

  async #grant(days: number): Promise<void> {
    const isGranted = this.#model.grant(days, this.#world.now);
    const call = grantDays(this.#world.database, this.#accountId, { days });
    const error: unknown = await call.then(() => undefined).catch((reason: unknown) => reason);
    if (error !== undefined && !(error instanceof AccountError)) throw error;
    if ((error === undefined) !== isGranted) throw new Error(`a grant of ${days} days: ${String(error)}`);
  }

  /** As the owner does, with open orders cancelled first, or as nobody does, with orders that can still be paid. */
  async #delete(pick: number): Promise<void> {
    if (pick % 2 === 0) for (const order of this.#model.orders) await this.#cancel(order);
    this.#model.isDeleted = true;
    await deleteAccount(this.#world.database, this.#accountId);
  }

  /** Right or wrong, in time or late, with a notification now, later or never. */
  async #pay(order: ModelOrder, other: number): Promise<void> {
    const charge = this.#charge(order);
    if (charge.paid !== undefined) return;
    const isWrong = other % 4 === 0;
    this.#world.provider.pay(this.#reference(order), {
      amount: isWrong ? order.price - 1 : order.price,
      currency: 'IDR',
    });
    await this.#notify(order, charge.providerReference, other);
  }

  async #payAgain(order: ModelOrder, other: number): Promise<void> {
    if (this.#charge(order).paid === undefined) return;
    const amount = other % 3 === 0 ? 48_000 : order.price;
    const paymentId = this.#world.provider.payAgain(this.#reference(order), { amount, currency: 'IDR' });
    await this.#notify(order, paymentId, other);
  }

  async #notify(order: ModelOrder, paymentId: string, other: number): Promise<void> {
    if (other % 5 === 1) return; // lost
    if (other % 5 === 2) return void this.#mail.push({ order, paymentId });
    await this.#world.deliver(this.#reference(order), paymentId);
    this.#observe(order, paymentId);
  }

  async #deliver(pick: number, other: number): Promise<void> {
    const [letter] = this.#mail.splice((pick + other) % Math.max(1, this.#mail.length), 1);
    if (letter === undefined) return;
    await this.#world.deliver(this.#reference(letter.order), letter.paymentId);
    this.#observe(letter.order, letter.paymentId);
  }

  async #cancel(order: ModelOrder): Promise<void> {
    const wasPending = order.state === 'pending';
    if (wasPending) order.state = 'cancelled';
    await cancelOrder(this.#world.hosts[0], order.id);
    const charge = this.#charge(order);
    if (wasPending && charge.paid !== undefined) this.#observe(order, charge.providerReference);
  }

  async #check(order: ModelOrder): Promise<void> {
    const isOpen = order.state !== 'paid' && order.state !== 'refunded';
    const charge = this.#charge(order);
    await Promise.all(this.#world.hosts.map((host) => checkOrderAsBuyer(host, order.id)));
    if (!isOpen) return;
    if (charge.paid !== undefined) this.#observe(order, charge.providerReference);
  }

  async #expire(order: ModelOrder): Promise<void> {
    await Promise.all(this.#world.hosts.map((host) => expireOrder(host.database, order.id)));
    const read = await readOrder(this.#world.database, { id: order.id });
    if (order.state === 'pending' && BigInt(read?.expiresAt.getTime() ?? 0) * 1_000n <= this.#world.now)
      order.state = 'expired';
  }

  async #giveBack(order: ModelOrder, paymentId: string, part: number): Promise<void> {
    const paid = this.#paymentsAt(order).get(paymentId) ?? 0;
    const back = [...this.#charge(order).refunds.values()]
      .filter((one) => one.paymentId === paymentId && one.state !== 'failed')
      .reduce((sum, one) => sum + one.amount, 0);
    const amount = part > 60 ? paid - back : Math.min(paid - back, 1 + Math.floor((paid * part) / 100));
    if (amount < 1) return;
    this.#world.provider.giveBack(this.#reference(order), amount, paymentId);
    await this.#notify(order, paymentId, part);
  }

  async #refund(order: ModelOrder, paymentId: string, part: number, other: number, isManual: boolean): Promise<void> {
    const { hosts, now } = this.#world;
    const payment = order.payments.get(paymentId);
    const amount = part > 50 ? undefined : 1 + Math.floor(((payment?.amount ?? 0) * part) / 60);
    const days = ([undefined, undefined, 'whole', 'unused', 'none'] as const)[other % 5];
    const way = (['done', 'done', 'pending', 'pending', 'rejected', 'lost'] as const)[part % 6] ?? 'done';
    const request = { amount, days, reason: 'property', isManual };
    const expected = payment && this.#enter(order, payment, request);
    const answer = this.#answerOf(order, way);
    const error: unknown = await answer(() =>
      refundPayment(hosts[other % 2 === 0 ? 0 : 1], paymentId, request)
        .then(() => undefined)
        .catch((reason: unknown) => reason),
    );
    if (error !== undefined && !(error instanceof CheckoutError)) throw error;
    if ((error === undefined) !== (expected !== undefined))
      throw new Error(`refund of ${paymentId}: ${String(error)}, expected ${JSON.stringify(expected?.key)}`);
    if (expected === undefined || payment === undefined) return;
    const { refund, isNew } = expected;
    if (isManual) return this.#model.finish(order, refund, now);
    // The pause after a lost answer is shorter than that between two steps.
    if (!isNew) return this.#pursue(order, refund);
    if (way === 'done') this.#model.finish(order, refund, now);
    if (way === 'pending') refund.state = 'sent';
    if (way === 'rejected') {
      this.#observe(order, paymentId);
      this.#model.fail(order, refund, now);
    }
  }

  /** What the gateway must do about a request: enter a refund, find the one that is under way, or refuse. */
  #enter(
    order: ModelOrder,
    payment: ModelPayment,
    { amount, days, isManual }: { amount: number | undefined; days: DaysBack | undefined; isManual: boolean },
  ) {
    const [left, open] = [order.left(payment), order.open(payment)];
    if (open !== undefined) {
      const isSame = (amount ?? open.amount + left) === open.amount && (days ?? open.days) === open.days;
      return isSame && !isManual ? { refund: open, key: open.key, isNew: false } : undefined;
    }
    if (left <= 0 || (amount ?? left) > left) return undefined;
    const gaveDays = payment.outcome === 'activated';
    if (!gaveDays && days !== undefined && days !== 'none') return undefined;
    const usual = gaveDays && (amount ?? left) === left ? 'unused' : 'none';
    const request = { amount: amount ?? left, days: days ?? usual, isManual };
    const refund = this.#model.refund(order, payment, request, this.#world.now);
    return { refund, key: refund.key, isNew: true };
  }

  /** Lets the provider answer the refunds of this order in one way. */
  #answerOf(order: ModelOrder, way: 'done' | 'pending' | 'rejected' | 'lost') {
    const { provider } = this.#world;
    const reference = this.#reference(order);
    return async <T>(call: () => Promise<T>): Promise<T> => {
      provider.ways.set(reference, way);
      try {
        return await call();
      } finally {
        provider.ways.delete(reference);
      }
    };
  }

  /** The buyer's bank takes a refund, or does not. */
  async #finish(order: ModelOrder, paymentId: string, other: number): Promise<void> {
    const refund = [...this.#charge(order).refunds.values()].find(
      (one) => one.paymentId === paymentId && one.state === 'pending',
    );
    if (refund === undefined) return;
    refund.state = other % 3 === 0 ? 'failed' : 'done';
    await this.#notify(order, paymentId, other);
  }

  async #close(order: ModelOrder, paymentId: string, other: number): Promise<void> {
    const payment = order.payments.get(paymentId);
    const refund = payment && order.open(payment);
    if (refund === undefined) return;
    const outcome = other % 2 === 0 ? 'done' : 'failed';
    await closeRefund(this.#world, refund.key, outcome, 'property');
    if (outcome === 'done') this.#model.finish(order, refund, this.#world.now);
    else this.#model.fail(order, refund, this.#world.now, false);
  }

  #observe(order: ModelOrder, paymentId: string): void {
    const amount = this.#paymentsAt(order).get(paymentId);
    if (amount === undefined) return;
    const stated: StatedRefund[] = [...this.#charge(order).refunds]
      .filter(([, one]) => one.paymentId === paymentId)
      .map(([name, one]) => ({ name, amount: one.amount, state: one.state }));
    this.#model.observe(order, paymentId, amount, stated, this.#world.now);
  }

  #reference({ code }: ModelOrder): string {
    return `${code}.1`;
  }

  #charge(order: ModelOrder) {
    const charge = this.#world.provider.charges.get(this.#reference(order));
    if (charge === undefined) throw new Error(`no charge of ${order.code}`);
    return charge;
  }

  /** Amounts of all payments at the provider. */
  #paymentsAt(order: ModelOrder): Map<string, number> {
    const { paid, providerReference, further } = this.#charge(order);
    const first: [string, number][] = paid === undefined ? [] : [[providerReference, paid.amount]];
    return new Map([...first, ...[...further].map(([id, { amount }]): [string, number] => [id, amount])]);
  }

  async #periods(accountId: string): Promise<string[]> {
    const rows = await this.#world.database.query<{ period: string }>(
      `select coalesce(order_id::text, '') || ' ' || (extract(epoch from starts_at) * 1000000)::bigint || ' '
         || (extract(epoch from ends_at) * 1000000)::bigint as period
       from plan_period p where account_id = ? and ends_at > starts_at
         and not exists (select 1 from plan_period r where r.replaces = p.id)`,
      [accountId],
    );
    return rows.map(({ period }) => period).toSorted();
  }

  async #books(): Promise<string[]> {
    const lines: string[] = [];
    for await (const { order, amount, paymentId } of listMovements(this.#world.database, {
      accountId: this.#accountId,
    }))
      lines.push(`${order} ${paymentId} ${amount}`);
    return lines.toSorted();
  }

  #expectedBooks(): string[] {
    return this.#model.orders
      .flatMap(({ code, payments, refunds }) => [
        ...[...payments.values()].map(({ id, amount }) => `${code} ${id} ${amount}`),
        ...refunds.filter(({ state }) => state === 'done').map((one) => `${code} ${one.payment.id} ${-one.amount}`),
      ])
      .toSorted();
  }
}

function expectedPeriods({ periods }: ModelAccount): string[] {
  return periods.map(({ order = '', start, end }) => `${order} ${start} ${end}`).toSorted();
}

/** @returns whether this call has added the days */
async function redeemOnce(database: Database, accountId: string, code: string): Promise<boolean> {
  try {
    return await redeemCode(database, accountId, code);
  } catch (error) {
    if (error instanceof AccountError || (error as Error).name === 'VoucherError') return false;
    throw error;
  }
}

/** Plays one sequence for each buyer at once, and compares all. @throws Error with what differs */
export async function playSequences(
  database: Database,
  sequences: readonly (readonly Step[])[],
  pauses: readonly number[],
  differ: (seen: unknown, expected: unknown) => void,
): Promise<void> {
  const world = new World(database);
  const buyers = await Promise.all(sequences.map(() => Buyer.create(world)));
  const rounds = Math.max(...sequences.map(({ length }) => length));
  for (let round = 0; round < rounds; round++) {
    await world.advance(pauses[round % pauses.length] ?? 6_000_000);
    await Promise.all(
      buyers.map(async (buyer, index) => {
        const next = sequences[index]?.[round];
        if (next !== undefined) await buyer.take(next);
      }),
    );
    if (round % 4 !== 3) continue;
    await world.advance(6_000_000);
    await world.sweepRefunds();
    for (const buyer of buyers) buyer.applySweep();
  }
  await world.advance(6_000_000);
  await Promise.all(buyers.map((buyer) => buyer.settle()));
  for (const buyer of buyers) {
    const { seen, expected } = await buyer.compare();
    differ(seen, expected);
  }
}
