import { AccountError } from '#core/business/accounts/account-error.ts';
import { findActivePeriod, readAccounts } from '#core/business/accounts/account-record.ts';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { checkOrderAsBuyer, startOrder } from '#core/business/payments/checkout.ts';
import { readGiftCode } from '#core/business/payments/gifts.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { placeSteps } from '#core/business/payments/places.ts';
import { refundPayment } from '#core/business/payments/refunds.ts';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { PostgresRecordStore } from '../../plugins/log/record-store.ts';
import { listBatches, revokeVouchers } from '../../plugins/vouchers/voucher-batches.ts';
import { createVouchers, redeemVoucher, VoucherError } from '../../plugins/vouchers/vouchers.ts';
import { type ModelSide, MonthModel, type PendingRefund, type SoldOrder, terms, type Wait } from './model.ts';
import {
  type At,
  canary,
  day as oneDay,
  durations,
  minute,
  type MonthSize,
  numbersFrom,
  type Scripted,
  second,
  type Visit,
  writeScript,
} from './script.ts';
import { peak, playPeak, sumOfWaits } from './shares.ts';
import { begin, costs, type ShopTerms, World } from './world.ts';

export const startOfMonth = BigInt(Date.parse(begin)) * 1_000n;
const reserveEvery = 15n * minute;
const prices = new Map([
  [1, 18_000],
  [3, 48_000],
  [7, 95_000],
  [30, 289_000],
]);

/** Of the operator's API. */
interface ListedOutage {
  readonly id: string;
  readonly from: Date;
  readonly until: Date;
  readonly isConfirmed: boolean;
  readonly creditedAt: Date | undefined;
}
type ListedPlaces = Readonly<Record<'held' | 'max', number>>;

/** What follows from an event. */
type Later = () => Promise<void>;

interface CanarySides {
  readonly canary: ModelSide;
  readonly others: ModelSide;
}

const emptySide = (): ModelSide => ({ accounts: new Set(), requests: 0, failures: 0 });

interface Due {
  readonly at: bigint;
  readonly act: Later;
}

/** The only route of the model that is down for a while. */
const failedAttempt = { route: 'steady/main', outcome: 'failed', fault: 'route', status: 502 };

/** Plays a month in the product and in the model; `differences` are those that are seen on the way. */
export class Month {
  readonly model: MonthModel;
  readonly world: World;
  readonly differences: string[] = [];
  readonly counts = {
    events: 0,
    requests: 0,
    /** Those of conversations, which belong to no account. */
    talked: 0,
    accessChecks: 0,
    placeChecks: 0,
    probes: 0,
    mostPlaces: 0,
    fullDays: 0,
    slowestAtPeak: 0,
  };
  /** How the canary ended, and what it was seen to be told by. */
  canaryEnd: { readonly outcome: string; readonly reason: string; readonly requests: number } | undefined;
  /** Days on which the vendor was another model when its probe ran. */
  readonly weakDays: boolean[] = [];
  readonly #size: MonthSize;
  readonly #random: () => number;
  /** What follows, in no order. */
  readonly #later: Due[] = [];
  readonly #returning = new Map<Wait, Visit>();
  readonly #changed: ShopTerms[] = [];
  #codes: readonly string[] = [];
  #reservesAt: bigint | undefined;
  #isFailing = false;

  private constructor(world: World, size: MonthSize, first: ShopTerms) {
    this.world = world;
    this.#size = size;
    this.#random = numbersFrom(size.seed + 1);
    this.#changed.push(first);
    this.model = new MonthModel(size.accounts, first.prices, first.maxActive);
  }

  static async open(url: string, size: MonthSize): Promise<Month> {
    const first = { prices, maxActive: Math.floor(size.accounts * 0.55) };
    return new Month(await World.open(url, size, first), size, first);
  }

  get #database() {
    return this.world.host.database;
  }

  #id(account: number): string {
    return this.world.accounts[account] as string;
  }

  /** @param onDayEnd called with the number of each day at its end, from 1 */
  async play(onDayEnd: (day: number) => Promise<void>): Promise<void> {
    const script = writeScript(this.#size);
    const end = BigInt(this.#size.days) * oneDay;
    let [index, today] = [0, 0n];
    for (;;) {
      const scripted = script[index];
      const later = this.#nextLater();
      const isScripted = later === undefined || (scripted !== undefined && scripted.at <= later.at);
      const at = (isScripted ? scripted?.at : later.at) ?? end;
      for (; today < (at < end ? at : end) / oneDay; today++) {
        await this.world.vacuum();
        await onDayEnd(Number(today) + 1);
      }
      if (at >= end) return;
      await this.#moveTo(at);
      if (isScripted) {
        index++;
        await this.#take(scripted as At<Scripted>);
      } else {
        this.#later.splice(this.#later.indexOf(later), 1);
        await later.act();
      }
      this.counts.events++;
      this.#planReserve();
    }
  }

  /** Two events never have the same time. */
  async #moveTo(at: bigint): Promise<void> {
    const time = startOfMonth + at;
    this.model.now = time > this.model.now ? time : this.model.now + 1n;
    await this.world.setTime(this.model.now);
  }

  #nextLater(): Due | undefined {
    let next: Due | undefined;
    for (const one of this.#later) if (next === undefined || one.at < next.at) next = one;
    return next;
  }

  #after(delay: bigint, act: Later): void {
    this.#later.push({ at: this.model.now - startOfMonth + delay, act });
  }

  #differ(what: string, seen: unknown, expected: unknown): void {
    if (JSON.stringify(seen) === JSON.stringify(expected)) return;
    const time = new Date(Number(this.model.now / 1_000n)).toISOString();
    this.differences.push(`${time} ${what}: ${JSON.stringify(seen)}, expected ${JSON.stringify(expected)}`);
  }

  async #take(event: At<Scripted>): Promise<void> {
    switch (event.kind) {
      case 'visit':
        return this.#visit(event);
      case 'vouchers':
        return this.#makeVouchers(event.count, event.days);
      case 'redeem':
        return this.#redeemVoucher(event.voucher, event.account);
      case 'revoke vouchers':
        return this.#revokeVouchers();
      case 'grant':
        return this.#grant(event.account, event.days);
      case 'usage':
        return this.#use();
      case 'request':
        return this.#request(event.isFailed, event.turn);
      case 'watch':
        return this.world.runJob('watch-models');
      case 'credit':
        return this.#credit();
      case 'peak':
        return this.#peak();
      case 'probe':
        return this.#probe(event.isWeak);
      case 'bad change':
        return this.#change(event.which);
      case 'rollback':
        return this.#rollback();
      case 'canary':
        return this.#beginCanary();
      case 'vendors':
        return this.#vendors(event.today);
      case 'digest':
        return this.#digest();
      case 'count places':
        return this.#countPlaces();
    }
  }

  async #visit(visit: Visit): Promise<void> {
    const { account, days, isGift } = visit;
    const { model } = this;
    const same = model.sameOrder(account, days, isGift);
    const { refusal, reserved } =
      same === undefined ? model.ask(account, days, isGift) : { refusal: undefined, reserved: [] };
    this.#reserved(reserved);
    try {
      const made = await startOrder(this.world.host, this.#id(account), days, { isGift });
      this.#differ(
        `an order of account ${account}`,
        same === undefined ? 'ordered' : made.id,
        same?.order.id ?? refusal ?? 'ordered',
      );
      if (same === undefined) this.#follow(model.addOrder(account, made), visit);
    } catch (error) {
      if (!(error instanceof CheckoutError)) throw error;
      this.#differ(`an order of account ${account}`, error.kind, refusal ?? 'ordered');
      model.refused++;
      if (error.kind === 'sold_out' && visit.waits && !isGift) await this.#join(visit);
    }
  }

  async #join(visit: Visit): Promise<void> {
    const { account, days } = visit;
    const places = await placeSteps.findLoader(this.#database.fork())?.();
    await places?.joinWaitingList(this.world.host, this.#id(account), days);
    if (this.model.waits.some((wait) => wait.account === account && wait.outcome === undefined)) return;
    const wait: Wait = { account, days, joined: this.model.now, reservedUntil: undefined, outcome: undefined };
    this.model.waits.push(wait);
    this.#returning.set(wait, visit);
  }

  /** Who got a place comes back for it, or does not. */
  #reserved(waits: readonly Wait[]): void {
    for (const wait of waits) {
      const visit = this.#returning.get(wait);
      if (visit?.returnsAfter !== undefined)
        this.#after(visit.returnsAfter, () => this.#visit({ ...visit, waits: false }));
    }
  }

  #planReserve(): void {
    if (this.#reservesAt !== undefined || this.model.waits.every(({ outcome }) => outcome !== undefined)) return;
    const now = this.model.now - startOfMonth;
    this.#reservesAt = (now / reserveEvery + 1n) * reserveEvery;
    this.#later.push({
      at: this.#reservesAt,
      act: async () => {
        this.#reservesAt = undefined;
        this.#reserved(this.model.reserve());
        await this.world.runJob('reserve-places');
      },
    });
  }

  /** What becomes of an order: the payment, and the sweeps that find that it has expired. */
  #follow(sold: SoldOrder, visit: Visit): void {
    const sweep = async () => {
      if (sold.order.state === 'pending') await this.#sweep();
    };
    this.#after(terms.order + 5n * second, sweep);
    this.#after(terms.order + terms.forgotten + minute, sweep);
    if (visit.payment !== 'never') this.#after(visit.hesitation, () => this.#pay(sold, visit));
  }

  async #sweep(): Promise<void> {
    this.model.sweep();
    await this.world.runJob('sweep-payments');
  }

  async #pay(sold: SoldOrder, visit: Visit): Promise<void> {
    const { order } = sold;
    const amount = visit.payment === 'wrong' ? order.price - 1 : order.price;
    const reference = `${order.code}.1`;
    const { providerReference } = this.world.bank.pay(reference, { amount, currency: 'IDR' });
    if (visit.payment === 'without a notice') await checkOrderAsBuyer(this.world.host, order.id, 0);
    else await this.world.notify(reference, providerReference);
    this.model.pay(sold, providerReference, amount);
    await this.#alert(sold);
    if (visit.payment === 'wrong') this.#after(20n * 60n * minute, () => this.#refund(sold, providerReference, visit));
    if (visit.payment === 'twice') this.#after(2n * minute, () => this.#payAgain(sold, reference, visit));
    const { refund, redeemer } = visit;
    if (refund !== undefined && visit.payment !== 'wrong')
      this.#after(refund.after, () => this.#refund(sold, providerReference, visit, refund));
    if (redeemer !== undefined) this.#after(redeemer.after, () => this.#redeemGift(sold, redeemer.account));
  }

  async #payAgain(sold: SoldOrder, reference: string, visit: Visit): Promise<void> {
    const paymentId = this.world.bank.payAgain(reference);
    await this.world.notify(reference, paymentId);
    this.model.pay(sold, paymentId, sold.order.price);
    await this.#alert(sold);
    this.#after(26n * 60n * minute, () => this.#refund(sold, paymentId, visit));
  }

  /** What needs a decision reaches the operator's webhook at once. */
  async #alert(sold: SoldOrder): Promise<void> {
    if (this.model.alertFlags(sold)) await this.world.runJob('send-webhooks');
  }

  /** The report of the day before, and whatever else waits for the webhook. */
  async #digest(): Promise<void> {
    this.model.report();
    await this.world.runJob('watch-for-alerts');
    await this.world.runJob('send-webhooks');
  }

  async #vendors(today: number): Promise<void> {
    const records = await this.world.liveVendors(today);
    this.counts.requests += records.length;
    this.counts.talked += records.length;
    await this.#write(records);
    // The alert of a balance is recorded with the report, half an hour later.
    this.#after(31n * minute - second, () => {
      const passes = this.model.accounts.filter((_account, index) => this.model.isActive(index)).length;
      this.model.alerts.push(...this.world.vendors.alertsOf(today, passes));
      return Promise.resolve();
    });
  }

  async #refund(
    sold: SoldOrder,
    paymentId: string,
    { confirmedAfter, readLateBy }: Visit,
    how?: NonNullable<Visit['refund']>,
  ): Promise<void> {
    const { bank, host } = this.world;
    const payment = sold.order.payments.get(paymentId);
    if (payment === undefined) return this.differences.push(`payment ${paymentId} is not on record`) as never;
    const amount = how?.isPart === true ? Math.floor(payment.amount / 3) : payment.amount;
    const days = how?.days ?? 'none';
    const isPending = confirmedAfter !== undefined;
    bank.refundState = isPending ? 'pending' : 'done';
    await refundPayment(host, paymentId, { amount, days, reason: 'month', isManual: false });
    const pending = this.model.refund(sold, payment, { amount, days, isPending });
    if (pending === undefined) return;
    this.#after(confirmedAfter ?? 0n, () => this.#confirm(pending));
    this.#planRead(pending, readLateBy);
  }

  /** The bank returns the money, and states the second of that to whoever asks. */
  #confirm(pending: PendingRefund): Promise<void> {
    pending.confirmedAt = (this.model.now / second) * second;
    const at = new Date(Number(pending.confirmedAt / 1_000n));
    this.world.bank.confirm(`${pending.sold.order.code}.1`, pending.refund.key, at);
    return Promise.resolve();
  }

  /** Sweeps until one has read that the refund is done. @param lateBy µs after each is due */
  #planRead(pending: PendingRefund, lateBy: bigint): void {
    this.#after(pending.nextRead - this.model.now + lateBy, async () => {
      if (pending.nextRead <= this.model.now) await this.#sweep();
      if (this.model.pendingRefunds.has(pending)) this.#planRead(pending, lateBy);
    });
  }

  async #redeemGift(sold: SoldOrder, redeemer: number): Promise<void> {
    const order = await readOrder(this.#database, { id: sold.order.id });
    const code = order && (await readGiftCode(this.#database, order))?.written;
    this.#differ(
      `the code of gift ${sold.order.code}`,
      code !== undefined,
      sold.order.giftState(this.model.now) === 'open',
    );
    if (code !== undefined)
      this.#differ(
        `gift ${sold.order.code}`,
        await this.#redeem(code, redeemer),
        this.model.redeemGift(sold, redeemer),
      );
  }

  async #makeVouchers(count: number, days: number): Promise<void> {
    const made = { count, days, note: 'month' };
    this.#codes = (await createVouchers(this.#database, made)).codes;
    for (const _code of this.#codes) this.model.vouchers.push({ days, account: undefined, isRevoked: false });
  }

  async #redeemVoucher(index: number, account: number): Promise<void> {
    const seen = await this.#redeem(this.#codes[index] ?? 'never made', account);
    this.#differ(`voucher ${index} by account ${account}`, seen, this.model.redeemVoucher(index, account));
  }

  async #redeem(code: string, account: number): Promise<boolean | 'again'> {
    try {
      const host = { database: this.#database, shared: new MemoryShared() };
      return (await redeemVoucher(host, this.#id(account), code, '192.0.2.1')).isNew ? true : 'again';
    } catch (error) {
      if (error instanceof VoucherError || error instanceof AccountError) return false;
      throw error;
    }
  }

  async #revokeVouchers(): Promise<void> {
    const [batch] = await listBatches(this.#database, 1);
    const count = batch === undefined ? 0 : await revokeVouchers(this.#database, batch.id);
    const open = this.model.vouchers.filter(({ account }) => account === undefined);
    for (const voucher of open) voucher.isRevoked = true;
    this.#differ('revoked vouchers', count, open.length);
  }

  async #grant(account: number, days: number): Promise<void> {
    const isAdded = await grantDays(this.#database, this.#id(account), { days }).then(
      () => true,
      () => false,
    );
    this.#differ(`a grant to account ${account}`, isAdded, this.model.account(account).grant(days, this.model.now));
  }

  /** Requests of all who have a pass, and whether the product says that they have one. */
  async #use(): Promise<void> {
    const { model } = this;
    const records = await readAccounts(this.#database, 'id', this.world.accounts);
    const byId = new Map(records.map((one) => [one.id, one]));
    const lines: string[] = [];
    const now = Number(model.now / 1_000n);
    for (const index of model.accounts.keys()) {
      const record = byId.get(this.#id(index));
      const isActive = record !== undefined && findActivePeriod(record, now) !== undefined;
      this.counts.accessChecks++;
      this.#differ(`access of account ${index}`, isActive, model.isActive(index));
      if (!model.isActive(index)) continue;
      for (let one = index % 50 === 0 ? 20 : 1; one > 0; one--) lines.push(this.#answered(index, now - 1_000 * one));
    }
    await this.#write(lines);
    await this.world.runJob('usage-rollup');
  }

  #answered(account: number, started: number, more: object = {}): string {
    const names = Object.keys(costs);
    const route = names[Math.floor(this.#random() * names.length)] ?? '';
    const [input, output] = [100 + Math.floor(this.#random() * 20_000), Math.floor(this.#random() * 3_000)];
    this.model.use(account, { at: started, input, output, route });
    return this.#record(account, started, {
      outcome: 'answered',
      status: 200,
      route,
      input_tokens: input,
      output_tokens: output,
      first_content_ms: durations.firstContent,
      duration_ms: durations.answered,
      ...more,
    });
  }

  #record(account: number, started: number, more: object): string {
    this.counts.requests++;
    return JSON.stringify({
      id: createRequestId(started),
      started_at: started,
      account_id: this.#id(account),
      method: 'POST',
      path: '/v1/chat/completions',
      endpoint: 'chat',
      is_metered: true,
      model: 'dp/main',
      ...more,
    });
  }

  async #write(lines: readonly string[]): Promise<void> {
    const store = new PostgresRecordStore(this.#database);
    for (let from = 0; from < lines.length; from += 500) await store.insert('month', lines.slice(from, from + 500));
  }

  async #request(isFailed: boolean, turn: number): Promise<void> {
    const { model } = this;
    const active = [...model.accounts.keys()].filter((index) => model.isActive(index));
    const account = active[turn % active.length];
    if (account === undefined) return;
    const now = Number(model.now / 1_000n);
    if (!isFailed && this.#isFailing) model.endOutage();
    this.#isFailing = isFailed;
    if (!isFailed) return this.#write([this.#answered(account, now - durations.answered)]);
    const started = now - durations.failed;
    model.fail(account, now, started);
    await this.#write([
      this.#record(account, started, {
        outcome: 'failed',
        status: 502,
        duration_ms: durations.failed,
        attempts: [failedAttempt],
      }),
    ]);
  }

  /** The minute of one who sends too much, in the product's queue; its waits are in the records. */
  async #peak(): Promise<void> {
    const served = playPeak();
    const base = Number(this.model.now / 1_000n) - 120_000;
    const lines = served.map(({ account, arrived, wait }) => {
      this.model.use(account, { at: base + arrived, input: 0, output: 0, route: 'steady/main', wait });
      return this.#record(account, base + arrived, {
        outcome: 'answered',
        status: 200,
        route: 'steady/main',
        queue_ms: wait,
        first_content_ms: wait + peak.service,
        duration_ms: wait + peak.service,
      });
    });
    await this.#write(lines);
    this.#differ(
      'the waits of a peak, ms',
      served.reduce((sum, { wait }) => sum + wait, 0),
      sumOfWaits(),
    );
    // All slots are taken at once, so each may have to wait for the end of one request, and for no more.
    const slowest = Math.max(...served.map(({ account, wait }) => (account > 0 ? wait + peak.service : 0)));
    this.counts.slowestAtPeak = Math.max(this.counts.slowestAtPeak, slowest);
    if (slowest > 2 * peak.service) this.#differ('the slowest of the others at a peak, ms', slowest, 2 * peak.service);
  }

  /** The first time an operator gives the time back, later the job. */
  async #credit(): Promise<void> {
    const isFirst = (await this.#outages()).every(({ creditedAt }) => creditedAt === undefined);
    await this.world.runJob('credit-outages');
    const outages = await this.#outages();
    // Later ones wait only where nothing confirms them.
    for (const { id, creditedAt, isConfirmed } of outages)
      if (creditedAt === undefined && (isFirst || !isConfirmed)) await this.world.act('outage.credit', { outage: id });
    const [last] = outages;
    const expected = this.model.outages.at(-1);
    this.#differ('the outage', last && { from: last.from.getTime(), until: last.until.getTime() }, expected);
    if (expected !== undefined) this.model.credit();
  }

  async #outages(): Promise<readonly ListedOutage[]> {
    const { outages } = (await this.world.read('/outages')) as { readonly outages: readonly ListedOutage[] };
    return outages;
  }

  async #probe(isWeak: boolean): Promise<void> {
    this.world.isWeak = isWeak;
    this.weakDays.push(isWeak);
    this.counts.probes++;
    await this.world.runJob('probe-routes');
  }

  async #change(which: 'price' | 'places'): Promise<void> {
    const [good] = this.#changed as [ShopTerms];
    const bad =
      which === 'price'
        ? { ...good, prices: new Map([...good.prices, [7, 9_500] as const]) }
        : { ...good, maxActive: Math.max(1, Math.floor(good.maxActive / 10)) };
    await this.world.change(bad);
    this.#apply(bad);
  }

  /** Routes that fail in three of four requests, for a share of the accounts; in a small shop in all. */
  async #beginCanary(): Promise<void> {
    const accounts = [...this.model.accounts.keys()].filter((index) => this.model.isActive(index));
    await this.world.runJob('usage-rollup');
    await this.world.beginCanary(
      this.#changed[0] as ShopTerms,
      canary.share,
      accounts.map((index) => this.#id(index)),
    );
    const sides = { canary: emptySide(), others: emptySide() };
    const isTotal = accounts.length < 50;
    for (let round = 0; round < canary.rounds; round++)
      this.#after(canary.pause * BigInt(round + 1), () => this.#tryCanary(accounts, round, isTotal, sides));
  }

  /** Requests of some accounts, each served by the side that it is on, and what the product makes of them. */
  async #tryCanary(accounts: readonly number[], round: number, isTotal: boolean, sides: CanarySides): Promise<void> {
    const now = Number(this.model.now / 1_000n);
    const lines: string[] = [];
    const { canary: serving } = this.world;
    for (let one = 0; one < canary.each; one++) {
      const account = accounts[(round * canary.each + one) % accounts.length] as number;
      const isInside = serving?.includes(this.#id(account)) === true;
      const isFailed = isInside && (isTotal || one % 4 > 0);
      const side = isInside ? sides.canary : sides.others;
      if (serving !== undefined) {
        side.accounts.add(account);
        side.requests++;
        side.failures += Number(isFailed);
      }
      lines.push(this.#tried(account, now - 2_000 + one, isFailed, isInside ? serving?.number : undefined));
    }
    await this.#write(lines);
    if (serving === undefined) return;
    const { counts, end } = await this.world.judgeCanary();
    const expected = [sides.canary, sides.others].map((side) => [side.accounts.size, side.requests, side.failures]);
    const seen = [counts?.canary, counts?.others].map((side) => [side?.accounts, side?.requests, side?.failures]);
    this.#differ('the counts of the canary', seen, expected);
    if (end !== null) this.canaryEnd = { ...end, requests: sides.canary.requests };
  }

  #tried(account: number, started: number, isFailed: boolean, number: number | undefined): string {
    if (number === undefined && !isFailed) return this.#answered(account, started);
    if (!isFailed) return this.#answered(account, started, { canary: number });
    this.model.use(account, { at: started, input: 0, output: 0, route: '' });
    return this.#record(account, started, { outcome: 'failed', status: 502, duration_ms: 900, canary: number });
  }

  async #rollback(): Promise<void> {
    await this.world.rollback();
    this.#apply(this.#changed[0] as ShopTerms);
  }

  #apply({ prices: now, maxActive }: ShopTerms): void {
    for (const [days, price] of now) this.model.prices.set(days, price);
    this.model.maxActive = maxActive;
  }

  async #countPlaces(): Promise<void> {
    const { places } = (await this.world.read('/sales')) as { readonly places: readonly ListedPlaces[] };
    const [all] = places;
    const held = this.model.holders().size;
    this.counts.placeChecks++;
    this.counts.mostPlaces = Math.max(this.counts.mostPlaces, held);
    if (held >= this.model.maxActive) this.counts.fullDays++;
    this.#differ('places', [all?.held, all?.max], [held, this.model.maxActive]);
  }
}
