import { setTimeout } from 'node:timers/promises';
import type { Experiment, ExperimentContext, Figure } from '../chaos/figure.ts';
import { noneOf } from '../chaos/figure.ts';
import { insertAccounts, openShop, orderPlan, type Shop } from './gateways.ts';
import { percentile, secondsToActive, type SoakOrder } from './soak-audit.ts';

/** Buyers that come evenly within a time, and seconds that they wait at most. */
interface Rush {
  readonly buyers: number;
  readonly seconds: number;
  readonly aims: { readonly unlimited: Aim; readonly limited: Aim };
}

interface Aim {
  readonly qr: number; // the slowest
  readonly active: number; // p95
}

const aims = { unlimited: { qr: 5, active: 3 }, limited: { qr: 6, active: 6 } };
const longAims = { unlimited: { qr: 3, active: 3 }, limited: { qr: 3, active: 3 } };
const rushes = {
  short: { buyers: 120, seconds: 10, aims },
  evening: { buyers: 240, seconds: 20, aims },
  long: { buyers: 2_000, seconds: 600, aims: longAims },
  minuteOfLong: { buyers: 200, seconds: 60, aims: longAims },
} satisfies Record<string, Rush>;
/** Ms that the bank takes for an answer; calls that one of its endpoints takes in a minute, where it has a limit. */
const bankHabits = { delay: 300, perMinute: 600 };
/** Ms between two looks of a buyer at a page without a QR code. */
const look = 500;
/** Ms for the last order to become active. */
const patience = 60_000;
const days = 7;

/** @param isLong besides 240 buyers within 20 seconds, 2,000 within ten minutes; of the short form, a minute of those */
export function paymentBursts(isLong: boolean): Experiment {
  return {
    name: 'bursts',
    description: 'many buyers at once, at a bank without a documented limit and at one with 600 calls a minute',
    async run(context) {
      const [usual, long] = context.isShort ? [rushes.short, rushes.minuteOfLong] : [rushes.evening, rushes.long];
      const tried: Rush[] = [usual, ...(isLong ? [long] : [])];
      const figures: Figure[] = [];
      for (const rush of tried)
        for (const bank of ['unlimited', 'limited'] as const) figures.push(...(await runRush(context, rush, bank)));
      return figures;
    },
  };
}

async function runRush(
  context: ExperimentContext,
  { buyers, seconds, aims: aimsOf }: Rush,
  bankKind: keyof Rush['aims'],
): Promise<Figure[]> {
  const aim = aimsOf[bankKind];
  await using stack = new AsyncDisposableStack();
  const { delay, perMinute } = bankHabits;
  const shop = await openShop(
    stack,
    context,
    bankKind === 'limited' ? { delay, perMinute, rate: perMinute / 60 } : { delay },
  );
  for (let gateway = 0; gateway < 2; gateway++) {
    const { url } = await shop.home.start(shop.environment);
    shop.bank.gateways.push(url);
  }
  const accounts = await insertAccounts(shop.home.database, buyers);
  const began = performance.now();
  const bought = await Promise.all(
    accounts.map(async (accountId, index) => {
      await setTimeout((index * seconds * 1_000) / buyers);
      return buy(shop, accountId);
    }),
  );
  const orders = bought.filter((one) => one !== undefined);
  const active = await waitUntilActive(shop, orders);
  const title = `${buyers} buyers in ${seconds} s, ${bankKind}`;
  context.print(
    `  ${title}: ${((performance.now() - began) / 1_000).toFixed(0)} s, ${shop.bank.refused} answers of 429`,
  );
  const waits = orders.map(({ wait }) => wait);
  return [
    noneOf(`${title}: buyers without a QR code`, buyers, missingOf(buyers - orders.length)),
    noneOf(`${title}: paid and not active`, buyers, missingOf(orders.length - active.length)),
    noneOf(`${title}: charges that failed`, buyers, await readFailures(shop)),
    within(`${title}: QR code, slowest`, waits, 1, aim.qr),
    within(`${title}: paid to active, p95`, active, 0.95, aim.active),
  ];
}

/** A buyer who pays as soon as there is a code, and whose payment the bank reports at once. */
async function buy({ bank }: Shop, accountId: string): Promise<(SoakOrder & { readonly wait: number }) | undefined> {
  const came = performance.now();
  const made = await orderPlan(bank, { accountId, days }, look);
  if ('failure' in made) return undefined;
  const { id, reference } = made;
  const wait = (performance.now() - came) / 1_000;
  bank.pay(reference);
  const paidAt = Date.now();
  await bank.notify({ reference, eventKey: reference, hasEvidence: false, delay: 0, isTimed: true });
  return { id, accountId, days, way: 'hint', paidAt, isCalm: true, wait };
}

/** @returns seconds from payment to days, of each order that has them */
async function waitUntilActive({ home }: Shop, orders: readonly SoakOrder[]): Promise<number[]> {
  const until = performance.now() + patience;
  for (;;) {
    const times = await secondsToActive(home.database, orders);
    if (times.length === orders.length || performance.now() > until) return times.map(({ seconds }) => seconds);
    await setTimeout(500);
  }
}

async function readFailures({ home }: Shop): Promise<string[]> {
  const rows = await home.database.query<{ error: string }>(
    `select coalesce(error, charge) as error from payment_attempt where failures > 0 or charge = 'rejected' or number > 1`,
  );
  return rows.map(({ error }) => error);
}

const missingOf = (count: number) => Array.from({ length: count }, () => 'one');

function within(name: string, seconds: readonly number[], part: number, aim: number): Figure {
  const value = percentile(seconds, part);
  const seen = `${value.toFixed(2)} s (p50 ${percentile(seconds, 0.5).toFixed(2)} s)`;
  return { name, count: seconds.length, seen, aim: `${aim} s`, isMet: value <= aim, isTimed: true };
}
