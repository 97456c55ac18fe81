import { currencySection } from '#core/business/accounts/plans.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { startOfHour, type UsageCounts, hourMs } from '#core/gateway/records/usage.ts';
import { runInTurns } from '#core/platform/timing/turn.ts';
import { readDays, type CalendarDay } from './calendar.ts';
import { type Earning, computeEarned, readEarnings } from './earnings.ts';
import { type ExactMoney, allocate, type Timespan, prorate, formatDecimal } from './exact-money.ts';
import { computeCost, type FlatPrice, type Prices, readPrices } from './prices.ts';
import {
  type AccountCounts,
  addCounts,
  type HourCounts,
  noUsage,
  readUsageCounts,
  type RouteCounts,
} from './read-usage.ts';

export interface Margin {
  readonly counts: UsageCounts;
  readonly cost: ExactMoney;
  readonly earned: ExactMoney;
}

/** The smallest unit to which money is allocated. */
type MarginLine = Margin & AccountCounts;

/** `key` is null for lines that have no account, plan, model or route. */
export interface MarginGroup extends Margin {
  readonly key: string | null;
}

interface MarginDay extends Margin {
  readonly day: string; // 2026-11-22, in `service.time_zone`
}

/** Returns each amount as a plain decimal in whole units, and as money. The plain decimals will be removed in 0.7. */
export function describeMargin({ cost, earned }: Pick<Margin, 'cost' | 'earned'>, currency: string): object {
  const exact = { cost: formatDecimal(cost), earned: formatDecimal(earned), margin: formatDecimal(earned - cost) };
  const money = Object.entries(exact).map(([name, amount]) => [`${name}_money`, { amount, currency }]);
  return { ...exact, ...Object.fromEntries(money) };
}

/** Lines and days are two divisions of the same money. */
export interface Margins {
  readonly currency: string;
  readonly span: Timespan;
  readonly lines: readonly MarginLine[];
  readonly days: readonly MarginDay[];
  readonly earnings: readonly Earning[];
  readonly unpriced: readonly string[]; // routes that served requests but have no declared cost
}

type MarginHost = Pick<Host, 'database' | 'section'>;

/** Several lines may have the same account, plan, model and route. */
export type ReadCounts = (span: Timespan) => ReturnType<typeof readUsageCounts>;

/**
 * Reads usage, its cost at today's prices, and the earnings. A flat price is spread evenly over the month, then divided among the lines in
 * the span by tokens. An account's money is divided by requests among the models that answered them. Unused flat prices, and earnings from
 * accounts without requests, get lines of their own.
 *
 * @param span epoch ms; `from` is rounded up to a full hour, `until` must not be in the future
 */
export async function readMargins(
  host: MarginHost,
  { from, until }: Timespan,
  readCounts: ReadCounts = (span) => readUsageCounts(host.database, span),
): Promise<Margins> {
  const span = { from: startOfHour(from + hourMs - 1), until };
  const currency = host.section(currencySection);
  const [usage, earnings, days] = await Promise.all([
    readCounts(span),
    readEarnings(host.database, currency, span),
    readDays(host.database, host.section(service).time_zone, span),
  ]);
  const prices = readPrices(host);
  const unpriced = usage.hours.filter(
    ({ model, route, counts }) => route !== null && counts.answered > 0 && prices.find(model, route) === undefined,
  );
  return {
    currency,
    span,
    lines: await runInTurns(divideByLines(usage.accounts, earnings, days, prices, span)),
    days: await runInTurns(divideByDays(usage.hours, earnings, days, prices)),
    earnings,
    unpriced: [...new Set(unpriced.map(({ route }) => route as string))].toSorted(),
  };
}

const linesPerTurn = 2_000; // lines or orders per turn of the event loop, which takes a few ms

type OpenMarginLine = AccountCounts & { cost: ExactMoney; earned: ExactMoney };

function* divideByLines(
  usage: readonly AccountCounts[],
  earnings: readonly Earning[],
  days: readonly CalendarDay[],
  prices: Prices,
  span: Timespan,
): Generator<undefined, MarginLine[]> {
  const lines: OpenMarginLine[] = [];
  const byFlat = new Map<FlatPrice, OpenMarginLine[]>();
  const byBuyer = new Map<string, OpenMarginLine[]>();
  for (const [index, usageLine] of usage.entries()) {
    if (index % linesPerTurn === linesPerTurn - 1) yield;
    const price = prices.find(usageLine.model, usageLine.route);
    const line = { ...usageLine, cost: price === undefined ? 0n : computeCost(price, usageLine.counts), earned: 0n };
    lines.push(line);
    if (price?.flat !== undefined) addToList(byFlat, price.flat, line);
    if (usageLine.account !== null) addToList(byBuyer, getBuyerKey(usageLine), line);
  }
  for (const flat of prices.flat) {
    const cost = days.reduce((sum, day) => sum + computeFlatCost(flat, day), 0n);
    const users = byFlat.get(flat) ?? [];
    const parts = allocate(cost, computeWeights(users));
    for (const [index, line] of users.entries()) line.cost += parts?.[index] ?? 0n;
    if (parts === undefined) lines.push({ ...unusedLine, route: flat.name, cost, earned: 0n });
  }
  const byPlan = Map.groupBy(earnings, getBuyerKey);
  for (const [index, [buyer, purchases]] of [...byPlan].entries()) {
    if (index % linesPerTurn === linesPerTurn - 1) yield;
    const earned = purchases.reduce((sum, earning) => sum + computeEarned(earning, span), 0n);
    const usedLines = byBuyer.get(buyer) ?? [];
    const weights = usedLines.map(({ counts }) => counts.answered);
    const parts = allocate(earned, weights);
    for (const [lineIndex, line] of usedLines.entries()) line.earned += parts?.[lineIndex] ?? 0n;
    const { account, plan } = purchases[0] as Earning;
    if (parts === undefined) lines.push({ ...unusedLine, account, plan, cost: 0n, earned });
  }
  return lines;
}

const unusedLine: AccountCounts = { account: null, plan: null, model: null, route: null, counts: noUsage };

function addToList<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

function getBuyerKey({ account, plan }: { readonly account: string | null; readonly plan: string | null }): string {
  return `${account} ${plan}`;
}

/** Divides by tokens, or by requests if no line has tokens, as with images. */
function computeWeights(lines: readonly RouteCounts[]): number[] {
  const tokens = lines.map(({ counts }) => counts.inputTokens + counts.outputTokens);
  return tokens.some((count) => count > 0) ? tokens : lines.map(({ counts }) => counts.answered);
}

function computeFlatCost({ monthly }: FlatPrice, { from, until, month }: CalendarDay): ExactMoney {
  return prorate(monthly, month, { from, until });
}

function* divideByDays(
  hours: readonly HourCounts[],
  earnings: readonly Earning[],
  days: readonly CalendarDay[],
  prices: Prices,
): Generator<undefined, MarginDay[]> {
  const sums: MarginDay[] = [];
  for (const day of days) {
    yield;
    let counts = noUsage;
    let cost = prices.flat.reduce((sum, flat) => sum + computeFlatCost(flat, day), 0n);
    for (const hourCounts of hours) {
      if (hourCounts.hour < day.from || hourCounts.hour >= day.until) continue;
      const price = prices.find(hourCounts.model, hourCounts.route);
      counts = addCounts(counts, hourCounts.counts);
      cost += price === undefined ? 0n : computeCost(price, hourCounts.counts);
    }
    const earned = earnings.reduce((sum, earning) => sum + computeEarned(earning, day), 0n);
    sums.push({ day: day.day, counts, cost, earned });
  }
  return sums;
}

export function groupMargins(lines: readonly MarginLine[], by: 'account' | 'plan' | 'model' | 'route'): MarginGroup[] {
  const groups = new Map<string | null, MarginGroup>();
  for (const line of lines)
    groups.set(line[by], addMargins({ key: line[by], ...(groups.get(line[by]) ?? noMargin) }, line));
  return [...groups.values()].toSorted(
    (first, second) => Number(second.cost > first.cost) - Number(second.cost < first.cost),
  );
}

/** For a whole span, passing its days is faster than passing its lines; for an account or a model, pass its lines. */
export function sumMargins(margins: readonly Margin[]): Margin {
  return margins.reduce<Margin>(addMargins, noMargin);
}

const routeCosts = new WeakMap<Margins, ReadonlyMap<string, ExactMoney>>();

/** Keyed by `model route`. Cached, because open pages read it repeatedly. */
export function computeRouteCosts(margins: Margins): ReadonlyMap<string, ExactMoney> {
  const cachedCosts = routeCosts.get(margins);
  if (cachedCosts !== undefined) return cachedCosts;
  const costs = new Map<string, ExactMoney>();
  for (const { model, route, cost } of margins.lines) {
    const key = `${model} ${route}`;
    costs.set(key, (costs.get(key) ?? 0n) + cost);
  }
  routeCosts.set(margins, costs);
  return costs;
}

const noMargin: Margin = { counts: noUsage, cost: 0n, earned: 0n };

function addMargins<Sum extends Margin>(first: Sum, second: Margin): Sum {
  return {
    ...first,
    counts: addCounts(first.counts, second.counts),
    cost: first.cost + second.cost,
    earned: first.earned + second.earned,
  };
}
