import { ModelAccount, ModelOrder, type ModelPayment, type ModelRefund } from '../payments/sequence-model.ts';
import { day, hour, minute } from './script.ts';

/*
 * What the shop must be at each moment, by plain arithmetic on whole microseconds and rupiah. It shares no code with the product, reads
 * nothing of it but the names that it gives (ids and codes), and is told what customers do, never what came of it.
 */

/** Minutes in which an order can be paid, a place is reserved, and after which an order without a check to come expires. */
export const terms = { order: 30n * minute, reservation: 1_440n * minute, forgotten: 5n * minute };
/** Between reads of a pending refund: a sixth of its age, within bounds. */
const reads = { shortest: 10n * minute, longest: 6n * hour, ofAge: 6n };
const year = 365n * day;
/** The zone of the service is seven hours ahead of UTC, all year. */
const zone = 7n * hour;

export interface SoldOrder {
  readonly order: ModelOrder;
  readonly account: number;
  readonly expires: bigint;
  paidAt: bigint | undefined;
  /** When the code of a gift was redeemed or withdrawn. */
  giftEndedAt: bigint | undefined;
}

export interface Wait {
  readonly account: number;
  readonly days: number;
  readonly joined: bigint;
  reservedUntil: bigint | undefined;
  outcome: 'bought' | 'expired' | undefined;
}

/** A refund that the bank had not confirmed when it was requested. */
export interface PendingRefund {
  readonly sold: SoldOrder;
  readonly refund: ModelRefund;
  /** When the gateway reads it next. */
  nextRead: bigint;
  /** The bank's time, of whole seconds, once it has returned the money. */
  confirmedAt: bigint | undefined;
}

/** Money of one day, or days of vouchers. */
export type Book = Map<string, number>;

interface Used {
  readonly at: number; // ms
  readonly input: number;
  readonly output: number;
  readonly route: string;
  readonly account: number;
  /** Ms for a free slot. */
  readonly wait?: number;
}

interface Voucher {
  readonly days: number;
  account: number | undefined;
  isRevoked: boolean;
}

/** What one side of a canary has sent. */
export interface ModelSide {
  readonly accounts: Set<number>;
  requests: number;
  failures: number;
}

export interface ModelOutage {
  readonly from: number; // ms
  readonly until: number;
}

export type Refusal = 'sold_out' | 'too_many_days';

export class MonthModel {
  readonly accounts: readonly ModelAccount[];
  readonly sold: SoldOrder[] = [];
  readonly waits: Wait[] = [];
  readonly vouchers: Voucher[] = [];
  readonly redeemed: Book = new Map();
  readonly used: Used[] = [];
  readonly outages: ModelOutage[] = [];
  readonly credits: { readonly account: number; readonly outage: number; readonly seconds: number }[] = [];
  readonly money: { readonly order: SoldOrder; readonly at: bigint; readonly amount: number }[] = [];
  /** What the operator's webhook must get, one text for each alert. */
  readonly alerts: string[] = [];
  readonly #alerted = new Set<string>();
  readonly prices: Map<number, number>;
  maxActive: number;
  reservations = 0;
  expired = 0;
  refused = 0;
  now = 0n; // µs since the epoch
  #failing: number[] = [];
  readonly #pending = new Set<SoldOrder>();
  readonly pendingRefunds = new Set<PendingRefund>();
  /** How many of them were read, and after the day of their bank's time. */
  readonly refundsRead = { later: 0, onAnotherDay: 0 };

  constructor(accounts: number, prices: ReadonlyMap<number, number>, maxActive: number) {
    this.accounts = Array.from({ length: accounts }, () => new ModelAccount());
    this.prices = new Map(prices);
    this.maxActive = maxActive;
  }

  account(index: number): ModelAccount {
    return this.accounts[index] as ModelAccount;
  }

  isActive(index: number): boolean {
    return this.account(index).periods.some(({ start, end }) => start <= this.now && end > this.now);
  }

  #hasPass(index: number): boolean {
    return this.account(index).periods.some(({ end }) => end > this.now);
  }

  /** Whether a wait has led to a pass: days that were given end none. */
  #hasBought({ account, joined }: Wait): boolean {
    return this.account(account).periods.some(
      ({ bought, end }) => bought !== undefined && bought >= joined && end > this.now,
    );
  }

  /** Who holds a place: accounts by their number, gifts by their order. */
  holders(): Set<string | number> {
    const held = new Set<string | number>();
    for (const index of this.accounts.keys()) if (this.#hasPass(index)) held.add(index);
    for (const { order, account } of this.#pending) held.add(order.isGift ? order.id : account);
    for (const { order } of this.sold) if (order.giftState(this.now) === 'open') held.add(order.id);
    for (const { account, reservedUntil, outcome } of this.waits)
      if (outcome === undefined && reservedUntil !== undefined && reservedUntil > this.now) held.add(account);
    return held;
  }

  /** Gives free places to those who wait, in their order. @returns who got one */
  reserve(): Wait[] {
    const open = this.waits.filter(({ outcome }) => outcome === undefined);
    for (const wait of open)
      if (this.#hasBought(wait)) wait.outcome = 'bought';
      else if (wait.reservedUntil !== undefined && wait.reservedUntil <= this.now) wait.outcome = 'expired';
    const waiting = open.filter(({ outcome, reservedUntil }) => outcome === undefined && reservedUntil === undefined);
    if (waiting.length === 0) return [];
    const held = this.holders();
    let free = this.maxActive - held.size;
    return waiting.filter((wait) => {
      const holds = held.has(wait.account);
      if (!holds && free <= 0) return false;
      if (!holds) free--;
      wait.reservedUntil = this.now + terms.reservation;
      this.reservations++;
      return true;
    });
  }

  /** An open order of the same, which is shown again. */
  sameOrder(account: number, days: number, isGift: boolean): SoldOrder | undefined {
    const price = this.prices.get(days);
    return [...this.#pending]
      .filter((one) => one.account === account && one.expires > this.now)
      .findLast(
        ({ order }) =>
          order.days === days && order.isGift === isGift && order.price === price && order.payments.size === 0,
      );
  }

  /**
   * Whether an order is accepted. Those who wait get their places before, but in the transaction of the order: one that is refused
   * reserves nothing, and leaves that to the job.
   */
  ask(account: number, days: number, isGift: boolean): { readonly refusal?: Refusal; readonly reserved: Wait[] } {
    if (!isGift && this.#ahead(account) + BigInt(days) * day > year) return { refusal: 'too_many_days', reserved: [] };
    const before = this.waits.map((wait) => ({ ...wait }));
    const { reservations } = this;
    const reserved = this.reserve();
    const held = this.holders();
    if (held.size < this.maxActive || (!isGift && held.has(account))) return { reserved };
    for (const [index, wait] of this.waits.entries()) Object.assign(wait, before[index]);
    this.reservations = reservations;
    return { refusal: 'sold_out', reserved: [] };
  }

  #ahead(account: number): bigint {
    const open = [...this.#pending].filter((one) => one.account === account && one.expires > this.now);
    const ordered = open.reduce((sum, { order }) => sum + (order.isGift ? 0n : BigInt(order.days) * day), 0n);
    const end = this.account(account).periods.reduce(
      (last, period) => (period.end > last ? period.end : last),
      this.now,
    );
    return ordered + end - this.now;
  }

  addOrder(account: number, given: Pick<ModelOrder, 'id' | 'code' | 'days' | 'isGift'>): SoldOrder {
    const order = new ModelOrder({ ...given, price: this.prices.get(given.days) ?? 0 });
    const expires = this.now + terms.order;
    const sold: SoldOrder = { order, account, expires, paidAt: undefined, giftEndedAt: undefined };
    this.sold.push(sold);
    this.#pending.add(sold);
    return sold;
  }

  /** Money has come for an order. */
  pay(sold: SoldOrder, id: string, amount: number): void {
    const { order } = sold;
    this.account(sold.account).observe(order, id, amount, [], this.now);
    this.money.push({ order: sold, at: this.now, amount });
    if (order.payments.get(id)?.outcome === 'activated') sold.paidAt = this.now;
    this.#settle(sold);
  }

  /** @param isPending the bank takes the request, and confirms it later */
  refund(
    sold: SoldOrder,
    payment: ModelPayment,
    { isPending, ...wish }: Pick<ModelRefund, 'amount' | 'days'> & { readonly isPending: boolean },
  ): PendingRefund | undefined {
    const refund = this.account(sold.account).refund(sold.order, payment, { ...wish, isManual: false }, this.now);
    if (!isPending) return void this.#finish(sold, refund, this.now);
    refund.state = 'sent';
    const pending = { sold, refund, nextRead: this.now + reads.shortest, confirmedAt: undefined };
    this.pendingRefunds.add(pending);
    return pending;
  }

  /** Days go back when a refund is read, and its money is booked at the bank's time. */
  #finish(sold: SoldOrder, refund: ModelRefund, bookedAt: bigint): void {
    const { order, account } = sold;
    const wasOpen = order.giftState(this.now) === 'open';
    this.account(account).finish(order, refund, this.now);
    this.money.push({ order: sold, at: bookedAt, amount: -refund.amount });
    if (wasOpen && order.giftState(this.now) === 'revoked') sold.giftEndedAt = this.now;
    this.#settle(sold);
  }

  #readRefunds(): void {
    for (const pending of this.pendingRefunds) {
      if (pending.nextRead > this.now) continue;
      const { sold, refund, confirmedAt } = pending;
      const pause = (this.now - refund.createdAt) / reads.ofAge;
      const atLeast = pause > reads.shortest ? pause : reads.shortest;
      pending.nextRead = this.now + (atLeast < reads.longest ? atLeast : reads.longest);
      if (confirmedAt === undefined) continue;
      this.pendingRefunds.delete(pending);
      this.refundsRead.later++;
      if (dayOf(confirmedAt) !== dayOf(this.now)) this.refundsRead.onAnotherDay++;
      this.#finish(sold, refund, confirmedAt);
    }
  }

  /** A webhook for each flag of an order that nobody has been told of. @returns whether there is one */
  alertFlags({ order }: SoldOrder): boolean {
    const news = [...order.flags].filter(
      ([flag, isResolved]) => !isResolved && !this.#alerted.has(`${order.id} ${flag}`),
    );
    for (const [flag] of news) {
      this.#alerted.add(`${order.id} ${flag}`);
      const [reason = '', subject = ''] = flag.split(' ');
      const amount = order.payments.get(subject)?.amount;
      const due = /^(?:wrong_|second_payment)/.test(reason) ? isoOf(this.now + day) : null;
      this.alerts.push(`order.flagged ${order.code} ${reason} ${order.price} ${amount} ${due}`);
    }
    return news.length > 0;
  }

  /** The daily report: revenue and orders of the day before, and flags that are open now. */
  report(): void {
    const yesterday = dayOf(this.now - day);
    const revenue = this.money.reduce((sum, { at, amount }) => (dayOf(at) === yesterday ? sum + amount : sum), 0);
    let orders = 0;
    const open = new Map<string, number>();
    for (const { order, paidAt } of this.sold) {
      for (const [flag, isResolved] of order.flags) {
        const [kind = ''] = flag.split(' ');
        if (!isResolved) open.set(kind, (open.get(kind) ?? 0) + 1);
      }
      const isActivated = [...order.payments.values()].some(({ outcome }) => outcome === 'activated');
      if (isActivated && paidAt !== undefined && dayOf(paidAt) === yesterday) orders++;
    }
    const flags = [...open].map(([kind, count]) => `${kind} ${count}`).toSorted();
    const { size } = this.pendingRefunds;
    this.alerts.push(`day.reported ${yesterday} ${revenue} ${orders} [${flags.join(', ')}] ${size} refunds pending`);
  }

  /** Refunds whose next read is due, and orders whose time is over. */
  sweep(): void {
    this.#readRefunds();
    for (const sold of this.#pending) {
      const isWrong = sold.order.payments.size > 0;
      if (isWrong ? sold.expires + terms.forgotten >= this.now : sold.expires > this.now) continue;
      sold.order.state = 'expired';
      this.expired++;
      this.#settle(sold);
    }
  }

  #settle(sold: SoldOrder): void {
    if (sold.order.state !== 'pending') this.#pending.delete(sold);
  }

  redeemGift(sold: SoldOrder, redeemer: number): boolean {
    if (!this.account(redeemer).redeem(sold.order, this.now)) return false;
    sold.giftEndedAt = this.now;
    this.#book('gift', sold.order.days);
    return true;
  }

  /** @returns whether days were added; `again` for the account that has redeemed it before */
  redeemVoucher(index: number, account: number): boolean | 'again' {
    const voucher = this.vouchers[index];
    if (voucher === undefined || (voucher.isRevoked && voucher.account === undefined)) return false;
    if (voucher.account !== undefined) return voucher.account === account ? 'again' : false;
    if (!this.account(account).redeemDays(voucher.days, this.now)) return false;
    voucher.account = account;
    this.#book('sold', voucher.days);
    return true;
  }

  #book(source: string, days: number): void {
    for (const [name, count] of [
      ['vouchers', 1],
      ['days', days],
    ] as const) {
      const key = `${dayOf(this.now)} ${source} ${name}`;
      this.redeemed.set(key, (this.redeemed.get(key) ?? 0) + count);
    }
  }

  use(account: number, use: Omit<Used, 'account'>): void {
    this.used.push({ ...use, account });
  }

  /** A request of the model that was down. */
  fail(account: number, at: number, started: number): void {
    this.#failing.push(at);
    this.use(account, { at: started, input: 0, output: 0, route: '' });
  }

  /** The end of the failures, as the requests after it show. */
  endOutage(): void {
    const [from = 0, until = 0] = [this.#failing[0], this.#failing.at(-1)];
    this.#failing = [];
    this.outages.push({ from, until });
  }

  /** Time for the last outage, to each who used the model within a week before it or in it. */
  credit(): void {
    const number = this.outages.length - 1;
    const { from, until } = this.outages[number] as ModelOutage;
    const [start, end] = [BigInt(from) * 1_000n, BigInt(until) * 1_000n];
    const hit = new Set(
      this.used.filter(({ at }) => at >= from - 7 * 86_400_000 && at <= until).map(({ account }) => account),
    );
    for (const index of hit) {
      const overlap = this.account(index).periods.reduce((sum, period) => {
        const first = period.start > start ? period.start : start;
        const last = period.end < end ? period.end : end;
        return last > first ? sum + last - first : sum;
      }, 0n);
      const seconds = overlap / 1_000_000n;
      if (seconds === 0n) continue;
      this.account(index).prolong(seconds * 1_000_000n, this.now);
      this.credits.push({ account: index, outage: number, seconds: Number(seconds) });
    }
  }
}

function isoOf(at: bigint): string {
  return new Date(Number(at / 1_000n)).toISOString();
}

/** `2026-11-22`, in the zone of the service. @param at µs since the epoch */
export function dayOf(at: bigint): string {
  return new Date(Number((at + zone) / 1_000n)).toISOString().slice(0, 10);
}
