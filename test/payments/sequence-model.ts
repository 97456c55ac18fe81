/*
 * What orders, days, books and flags must be, written down apart from the gateway: a model in memory, with times in whole
 * microseconds. It knows nothing of notifications: `observe` applies what the provider's books say of one payment now.
 */

export const day = 86_400_000_000n; // µs
/** After which a refund that is neither done nor failed is asked about no more. */
const longestOpen = 7n * day;

export type OrderState = 'pending' | 'expired' | 'cancelled' | 'paid' | 'refunded';
type Outcome = 'activated' | 'wrong_amount' | 'second' | 'returned';
export type DaysBack = 'whole' | 'unused' | 'none';

/** A refund as the provider has it. */
export interface StatedRefund {
  readonly name: string; // the key, for one of the gateway
  readonly amount: number;
  readonly state: 'pending' | 'done' | 'failed';
}

export interface ModelRefund {
  readonly key: string;
  readonly payment: ModelPayment;
  readonly amount: number;
  state: 'asked' | 'sent' | 'done' | 'failed';
  days: DaysBack;
  readonly isManual: boolean;
  name: string | undefined; // the provider's
  readonly createdAt: bigint;
  finishedAt: bigint | undefined;
  /** It is asked about no more. */
  isLeft: boolean;
}

export interface ModelPayment {
  readonly id: string;
  readonly amount: number;
  readonly outcome: Outcome;
}

/** A gift that is paid. */
export interface ModelGift {
  readonly expires: bigint;
  /** Who has its days. */
  redeemer: ModelAccount | undefined;
  isRevoked: boolean;
}

export class ModelOrder {
  readonly id: string;
  readonly code: string;
  readonly days: number;
  readonly price: number;
  readonly isGift: boolean;
  gift: ModelGift | undefined;
  state: OrderState = 'pending';
  isLate = false;
  readonly payments = new Map<string, ModelPayment>();
  readonly refunds: ModelRefund[] = [];
  /** By kind and subject: whether it is resolved. */
  readonly flags = new Map<string, boolean>();

  constructor(order: Pick<ModelOrder, 'id' | 'code' | 'days' | 'price' | 'isGift'>) {
    this.id = order.id;
    this.code = order.code;
    this.days = order.days;
    this.price = order.price;
    this.isGift = order.isGift;
  }

  giftState(now: bigint): string | undefined {
    if (this.gift === undefined) return undefined;
    const { redeemer, isRevoked, expires } = this.gift;
    if (redeemer !== undefined) return 'redeemed';
    if (isRevoked) return 'revoked';
    return expires <= now ? 'expired' : 'open';
  }

  left({ id, amount }: ModelPayment): number {
    const back = this.refunds.filter(({ payment, state }) => payment.id === id && state !== 'failed');
    return back.reduce((rest, refund) => rest - refund.amount, amount);
  }

  open({ id }: ModelPayment): ModelRefund | undefined {
    return this.refunds.find(({ payment, state }) => payment.id === id && (state === 'asked' || state === 'sent'));
  }

  flag(kind: string, subject: string): void {
    const name = `${kind} ${subject}`;
    if (!this.flags.has(name)) this.flags.set(name, false);
  }

  resolve(kind: string, subject: string): void {
    const name = `${kind} ${subject}`;
    if (this.flags.get(name) !== false) return;
    this.flags.set(name, true);
    if (kind === 'wrong_amount' && this.state === 'pending') this.state = 'cancelled';
  }
}

interface Period {
  readonly order: string | undefined;
  /** When it was paid, or its code redeemed; undefined for days that were given. */
  readonly bought: bigint | undefined;
  start: bigint;
  end: bigint;
}

/** An account with its orders and its paid time. */
export class ModelAccount {
  readonly orders: ModelOrder[] = [];
  periods: Period[] = [];
  isDeleted = false;

  grant(days: number, now: bigint): boolean {
    return this.#add(undefined, days, now, undefined);
  }

  /** Days of a code that nobody has bought here. */
  redeemDays(days: number, now: bigint): boolean {
    return this.#add(undefined, days, now, now);
  }

  /** Whether the account gets the days of a gift. */
  redeem(order: ModelOrder, now: bigint): boolean {
    if (order.gift === undefined || order.giftState(now) !== 'open' || this.isDeleted) return false;
    if (!this.#add(order.id, order.days, now, now)) return false;
    order.gift.redeemer = this;
    return true;
  }

  #add(order: string | undefined, days: number, now: bigint, bought: bigint | undefined): boolean {
    const start = this.#nextStart(now);
    const end = start + BigInt(days) * day;
    if (end > now + 365n * day) return false;
    this.periods.push({ order, bought, start, end });
    return true;
  }

  /** Time for an outage: on the running period, or after the last one, from now; what follows it moves. @param length µs */
  prolong(length: bigint, now: bigint): void {
    const rank = ({ start, end }: Period) => (start <= now && end > now ? 1 : 0);
    const [period] = this.periods.toSorted((one, other) => rank(other) - rank(one) || (one.end > other.end ? -1 : 1));
    if (period === undefined) return;
    for (const later of this.periods) {
      if (later === period || later.start < period.end) continue;
      later.start += length;
      later.end += length;
    }
    if (period.end > now) period.end += length;
    else this.periods.push({ ...period, start: now, end: now + length });
  }

  /** The provider's books say this of one payment, which has come. */
  observe(order: ModelOrder, id: string, amount: number, stated: readonly StatedRefund[], now: bigint): void {
    const back = stated.filter(({ state }) => state === 'done').reduce((sum, one) => sum + one.amount, 0);
    const payment = order.payments.get(id) ?? this.#record(order, id, amount, back >= amount, now);
    const own = (name: string) => order.refunds.find((one) => one.key === name || one.name === name);
    const others: StatedRefund[] = [];
    for (const one of stated) {
      const refund = own(one.name);
      if (refund === undefined) others.push(one);
      else {
        refund.name ??= one.name;
        if (one.state === 'done' && refund.state !== 'done') this.finish(order, refund, now);
        else if (one.state === 'failed') this.fail(order, refund, now);
      }
    }
    for (const one of others) if (one.state === 'done') this.#enter(order, payment, one, now);
  }

  refund(
    order: ModelOrder,
    payment: ModelPayment,
    terms: Pick<ModelRefund, 'amount' | 'days' | 'isManual'>,
    now: bigint,
    name?: string,
  ): ModelRefund {
    const key = `${order.code}-R${order.refunds.length + 1}`;
    const open = { state: 'asked', createdAt: now, finishedAt: undefined, isLeft: false } as const;
    const refund: ModelRefund = { key, payment, ...terms, name, ...open };
    order.refunds.push(refund);
    return refund;
  }

  finish(order: ModelOrder, refund: ModelRefund, now: bigint): void {
    if (refund.state === 'done') return;
    const { payment } = refund;
    const done = order.refunds.filter((one) => one.payment.id === payment.id && one.state === 'done');
    refund.state = 'done';
    refund.finishedAt = now;
    const back = done.reduce((sum, one) => sum + one.amount, refund.amount);
    if (payment.outcome === 'activated') {
      const isTakenBack = done.some(({ days }) => days === 'whole');
      if (refund.days !== 'none') this.#takeBack(order, refund.days === 'whole' && !isTakenBack, now);
      if (back >= payment.amount && order.state === 'paid') order.state = 'refunded';
    }
    if (back > payment.amount) order.flag('refunded_twice', payment.id);
    order.resolve('refund_unconfirmed', refund.key);
    this.#resolve(order, payment, [...done, refund], back);
  }

  fail(order: ModelOrder, refund: ModelRefund, now: bigint, isFlagged = true): void {
    if (refund.state !== 'asked' && refund.state !== 'sent') return;
    refund.state = 'failed';
    refund.finishedAt = now;
    order.resolve('refund_unconfirmed', refund.key);
    if (isFlagged) order.flag('refund_failed', refund.key);
  }

  isTooOld({ createdAt }: ModelRefund, now: bigint): boolean {
    return now - createdAt > longestOpen;
  }

  /** After a question about it: the operator is told of one that has been under way for too long. */
  leave(order: ModelOrder, refund: ModelRefund, now: bigint): void {
    if ((refund.state !== 'asked' && refund.state !== 'sent') || !this.isTooOld(refund, now)) return;
    refund.isLeft = true;
    order.flag('refund_unconfirmed', refund.key);
  }

  #record(order: ModelOrder, id: string, amount: number, isBack: boolean, now: bigint): ModelPayment {
    const isSold = order.state === 'paid' || order.state === 'refunded';
    const outcome = isBack ? 'returned' : amount !== order.price ? 'wrong_amount' : isSold ? 'second' : 'activated';
    const payment: ModelPayment = { id, amount, outcome };
    order.payments.set(id, payment);
    if (outcome === 'returned' && !isSold) order.state = 'refunded';
    if (outcome === 'wrong_amount') order.flag('wrong_amount', id);
    if (outcome === 'second') order.flag('second_payment', id);
    if (outcome === 'activated') {
      order.isLate = order.state !== 'pending';
      order.state = 'paid';
      if (this.isDeleted) order.flag('deleted_account', '');
      if (order.isGift) order.gift = { expires: now + 365n * day, redeemer: undefined, isRevoked: false };
      else {
        const start = this.#nextStart(now);
        this.periods.push({ order: order.id, bought: now, start, end: start + BigInt(order.days) * day });
      }
    }
    return payment;
  }

  /** From whoever has the days; a gift that nobody has redeemed is withdrawn. */
  #takeBack(order: ModelOrder, isWhole: boolean, now: bigint): void {
    const holder = order.isGift ? order.gift?.redeemer : this;
    if (holder !== undefined) holder.#end(order, isWhole, now);
    else if (order.gift !== undefined) order.gift.isRevoked = true;
  }

  #end({ id, days }: ModelOrder, isWhole: boolean, now: bigint): void {
    this.#endOrder(id, now);
    if (!isWhole) return;
    const [used, sold] = [this.#lengthOf(id), BigInt(days) * day];
    this.#revoke(used < sold ? used : sold, now);
  }

  #enter(order: ModelOrder, payment: ModelPayment, { name, amount }: StatedRefund, now: bigint): void {
    const done = order.refunds.filter((one) => one.payment.id === payment.id && one.state === 'done');
    const recorded = done.find((one) => one.name === undefined && one.amount === amount);
    if (recorded !== undefined) {
      recorded.name = name;
      return;
    }
    const isWhole = done.reduce((sum, one) => sum + one.amount, amount) >= payment.amount;
    const days = payment.outcome === 'activated' && isWhole ? 'unused' : 'none';
    this.finish(order, this.refund(order, payment, { amount, days, isManual: false }, now, name), now);
  }

  #resolve(order: ModelOrder, payment: ModelPayment, done: readonly ModelRefund[], back: number): void {
    for (const failed of order.refunds) {
      if (failed.payment.id !== payment.id || failed.state !== 'failed') continue;
      const since = done.filter(({ finishedAt = 0n }) => finishedAt >= (failed.finishedAt ?? 0n));
      if (since.length > 0 && since.reduce((sum, one) => sum + one.amount, 0) >= failed.amount)
        order.resolve('refund_failed', failed.key);
    }
    if (back < payment.amount) return;
    for (const kind of ['wrong_amount', 'second_payment']) order.resolve(kind, payment.id);
    if (payment.outcome === 'activated') order.resolve('deleted_account', '');
  }

  #nextStart(now: bigint): bigint {
    return this.periods.reduce((latest, { end }) => (end > latest ? end : latest), now);
  }

  #lengthOf(order: string): bigint {
    return this.periods.filter((one) => one.order === order).reduce((sum, { start, end }) => sum + end - start, 0n);
  }

  #endOrder(order: string, now: bigint): void {
    for (const period of this.periods.filter((one) => one.order === order)) {
      const { start, end } = period;
      period.end = now < start ? start : now > end ? end : now;
      const removed = end - period.end;
      for (const later of this.periods)
        if (later !== period && later.start >= end) {
          later.start -= removed;
          later.end -= removed;
        }
    }
    this.#drop();
  }

  #revoke(length: bigint, now: bigint): void {
    let rest = length;
    for (const period of this.periods.toSorted((one, other) => (one.start > other.start ? -1 : 1))) {
      const from = period.start > now ? period.start : now;
      const available = period.end > from ? period.end - from : 0n;
      const share = available < rest ? available : rest;
      period.end -= share;
      rest -= share;
    }
    this.#drop();
  }

  /** What is empty is not in force. */
  #drop(): void {
    this.periods = this.periods.filter(({ start, end }) => end > start);
  }
}
