import { setTimeout } from 'node:timers/promises';
import { type Experiment, type ExperimentContext, type Figure, inParallel, noneOf } from '../chaos/figure.ts';
import type { GatewayHome, GatewayProcess } from '../support/gateway-home.ts';
import type { TestPostgres } from '../support/global-postgres.ts';
import type { Bank } from './bank.ts';
import { insertAccounts, openShop, orderPlan, type Shop } from './gateways.ts';
import { auditOrders, auditReceipts, percentile, secondsToActive, type SoakOrder, type Way } from './soak-audit.ts';

/** How much is tried. */
export interface SoakSize {
  readonly calm: number; // orders
  readonly killed: number; // orders, while processes are killed
  readonly kills: number;
  readonly concurrency: number;
}

const sizes: Record<'whole' | 'short', SoakSize> = {
  whole: { calm: 1_000, killed: 9_000, kills: 100, concurrency: 12 },
  short: { calm: 30, killed: 60, kills: 2, concurrency: 8 },
};
/** PostgreSQL is restarted with this one of ten kills, and is away for so many ms. */
const restarts = { at: 2, absence: 2_000 };
/** Starts of a gateway until it serves, at most. */
const mostStarts = 5;
/** Orders between two lines of progress. */
const progress = 1_000;
/** Ms for the last order to become active. */
const patience = 150_000;
const plans = [7, 30];

const description = {
  name: 'payments',
  description:
    'orders with shuffled, duplicated, delayed and forged notifications over two gateways that are killed, and a database that restarts',
};

/** Orders, payments and notifications of every kind over two gateways that are killed again and again. */
export const paymentSoak: Experiment = soakOf();

/** @param size left out: 10,000 orders and 100 kills, or the short form */
export function soakOf(size?: SoakSize): Experiment {
  return { ...description, run: (context) => runSoak(context, size ?? (context.isShort ? sizes.short : sizes.whole)) };
}

async function runSoak({ postgres, print }: ExperimentContext, size: SoakSize): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const { home, bank, environment } = await openShop(stack, { postgres }, { rate: 10_000 });
  const soak = new Soak({ home, bank, environment }, postgres, print);
  await soak.open();
  // Awaited here, because what it uses is disposed at the return.
  return await soak.run(size);
}

class Soak {
  readonly #home: GatewayHome;
  readonly #bank: Bank;
  readonly #environment: Record<string, string>;
  readonly #postgres: TestPostgres;
  readonly #print: (line: string) => void;
  readonly #gateways: (GatewayProcess | undefined)[] = [];
  readonly #orders: SoakOrder[] = [];
  readonly #deliveries: Promise<void>[] = [];
  readonly #failures: string[] = [];
  #kills = 0;
  #failedStarts = 0;
  #restarts = 0;

  constructor({ home, bank, environment }: Shop, postgres: TestPostgres, print: (line: string) => void) {
    this.#home = home;
    this.#bank = bank;
    this.#environment = environment;
    this.#postgres = postgres;
    this.#print = print;
  }

  async open(): Promise<void> {
    for (const index of [0, 1]) await this.#start(index);
    this.#print(`  two gateways run: ${this.#bank.gateways.join(', ')}`);
  }

  async run(size: SoakSize): Promise<Figure[]> {
    const accounts = await insertAccounts(this.#home.database, Math.ceil((size.calm + size.killed) / plans.length));
    const place = (index: number) => accounts[Math.floor(index / plans.length)] ?? '';
    await inParallel(size.calm, Math.min(size.concurrency, 6), (index) => this.#sell(place(index), index, true));
    this.#print(`  ${size.calm} orders without kills are paid`);
    const each = Math.floor(size.killed / size.kills);
    await inParallel(size.killed, size.concurrency, async (index) => {
      // The next kill is due: the others wait for it, so that kills are spread over the orders.
      while (this.#kills < Math.floor((index + 1) / each) - 1) await setTimeout(50);
      if ((index + 1) % each === 0 && index + 1 <= each * size.kills) await this.#kill();
      await this.#sell(place(size.calm + index), size.calm + index, false);
    });
    this.#print(
      `  ${size.killed} orders with ${this.#kills} kills and ${this.#restarts} restarts of PostgreSQL are paid; ${this.#failedStarts} starts failed`,
    );
    await Promise.all(this.#deliveries);
    return this.#audit(size);
  }

  async #audit(size: SoakSize): Promise<Figure[]> {
    const until = performance.now() + patience;
    let audit = await auditOrders(this.#home.database, this.#orders);
    while (audit.missed.length > 0 && performance.now() < until) {
      await setTimeout(1_000);
      audit = await auditOrders(this.#home.database, this.#orders);
    }
    let receipts = await auditReceipts(this.#home.database);
    while (receipts.unstored.length > 0 && performance.now() < until) {
      await setTimeout(1_000);
      receipts = await auditReceipts(this.#home.database);
    }
    const times = await secondsToActive(this.#home.database, this.#orders);
    const notified = times.filter(({ order }) => order.isCalm && order.way !== 'silent').map(({ seconds }) => seconds);
    const polled = times.filter(({ order }) => order.way === 'silent').map(({ seconds }) => seconds);
    const count = this.#orders.length;
    return [
      noneOf('orders that could not be made', size.calm + size.killed, this.#failures),
      noneOf('orders that were activated twice', count, audit.doubled),
      noneOf('orders that were paid and not activated', count, audit.missed),
      noneOf('orders that were activated without payment', count, audit.given),
      noneOf('wrong amounts that were not flagged', count, audit.unflagged),
      noneOf('accounts that hold other days than were paid', count / 2, audit.wrongDays),
      noneOf('payments without a numbered receipt', count, receipts.unstored),
      noneOf('numbers of receipts that are missing or twice there', receipts.seconds.length, receipts.gaps),
      noneOf('forged notifications that were not refused', count, this.#bank.accepted),
      {
        name: 'kills',
        count: size.kills,
        seen: String(this.#kills),
        aim: String(size.kills),
        isMet: this.#kills === size.kills,
      },
      within('payment to number of its receipt, p99', receipts.seconds, 60),
      within('paid to active by notification, p99', notified, 3),
      within('paid to active by polling alone, p99', polled, 90),
      within(
        'answer to a notification, p99',
        this.#bank.answerTimes.map((ms) => ms / 1_000),
        0.3,
      ),
    ];
  }

  /** Orders at a random gateway, pays, and lets the bank notify as it likes. */
  async #sell(accountId: string, index: number, isCalm: boolean): Promise<void> {
    const days = plans[index % plans.length] ?? 7;
    const way = wayOf(index);
    const made = await orderPlan(this.#bank, { accountId, days }, 500);
    if ('failure' in made) return void this.#failures.push(`${accountId}, ${days} days: ${made.failure}`);
    const { id, reference } = made;
    if (index % 7 === 0) this.#deliveries.push(this.#bank.forge(reference));
    if (way !== 'never') this.#bank.pay(reference, way === 'wrong' ? 1 : undefined);
    this.#orders.push({ id, accountId, days, way, paidAt: Date.now(), isCalm });
    if (this.#orders.length % progress === 0)
      this.#print(
        `  ${this.#orders.length} orders, ${this.#kills} kills, ${this.#restarts} restarts of PostgreSQL in ${Math.round(process.uptime())} s`,
      );
    if (way === 'silent') return;
    const copies = 1 + (index % 3);
    for (let copy = 0; copy < copies; copy++) {
      const isRepeated = copy === 2;
      this.#deliveries.push(
        this.#bank.notify({
          reference,
          eventKey: `${reference} ${isRepeated ? 0 : copy}`,
          hasEvidence: way === 'evidence',
          delay: copy === 0 ? 0 : Math.random() * 2_000,
          isTimed: isCalm,
        }),
      );
    }
  }

  /** As a supervisor would: a gateway that ends while it starts is started again. PostgreSQL may be away, or go away. */
  async #start(index: number): Promise<void> {
    const gateway = await this.#tryToStart();
    this.#gateways[index] = gateway;
    this.#bank.gateways.push(gateway.url);
  }

  async #tryToStart(): Promise<GatewayProcess> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#home.start({ ...this.#environment, DATABASE_WAIT: '60' });
      } catch (error) {
        if (tries === mostStarts) throw error;
        this.#failedStarts++;
        this.#print(`  a start failed: ${String(error).trimEnd().split('\n').at(-1)}`);
        await setTimeout(1_000);
      }
    }
  }

  /** Kills one of the gateways while it works, and starts another in its place. */
  async #kill(): Promise<void> {
    const index = this.#kills++ % 2;
    const victim = this.#gateways[index];
    if (victim === undefined) return;
    this.#bank.gateways.splice(this.#bank.gateways.indexOf(victim.url), 1);
    await victim.end('SIGKILL');
    // The other gateway is at work.
    if (this.#kills % 10 === restarts.at) await this.#restartDatabase();
    await this.#start(index);
  }

  async #restartDatabase(): Promise<void> {
    if (this.#postgres.restart === undefined) return;
    await this.#postgres.restart(restarts.absence);
    this.#restarts++;
  }
}

/** Among twenty orders, two get no notification, one a wrong amount, and one no payment. */
function wayOf(index: number): Way {
  const place = index % 20;
  if (place < 2) return 'silent';
  if (place === 2) return 'wrong';
  if (place === 3) return 'never';
  return place % 2 === 0 ? 'evidence' : 'hint';
}

function within(name: string, seconds: readonly number[], aim: number): Figure {
  const p99 = percentile(seconds, 0.99);
  const seen = `${p99.toFixed(2)} s (p50 ${percentile(seconds, 0.5).toFixed(2)} s)`;
  const isMet = seconds.length > 0 && p99 <= aim;
  return { name, count: seconds.length, seen, aim: `${aim} s`, isMet, isTimed: true };
}
