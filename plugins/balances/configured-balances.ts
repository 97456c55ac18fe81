import { currencySection } from '#core/business/accounts/plans.ts';
import type { Cost } from '#core/config/catalog/cost.ts';
import { models, splitRoute } from '#core/config/sections/models-section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import { type Host, cacheReading } from '#core/gateway/host/host.ts';
import { countUsage, startOfHour, type UsageCounts, hourMs } from '#core/gateway/records/usage.ts';
import { week } from './forecast.ts';
import { balancesSection } from './section.ts';

interface ConfiguredBalance {
  readonly upstream: string;
  readonly amount: number;
  readonly currency: string;
  readonly perDay: number;
  readonly asOf: number; // epoch ms
}

type FigureHost = Pick<Host, 'section' | 'database' | 'now'>;

const maxSettledAgeMs = 3_600_000; // the next sum includes records that arrived late
const timeoutMs = 30_000;

interface SettledCosts {
  readonly until: number; // epoch ms
  readonly used: ReadonlyMap<string, number>;
  readonly usedInWeek: ReadonlyMap<string, number>;
}

const settledCosts = cacheReading(
  { maxAgeMs: maxSettledAgeMs, staleWhileReadMs: maxSettledAgeMs, timeoutMs },
  readSettled,
);

/** The results are estimates, because vendors round prices differently. */
export async function readConfiguredBalances(host: Host): Promise<ConfiguredBalance[]> {
  const { section, now } = host;
  const figures = Object.entries(section(balancesSection).own);
  if (figures.length === 0) return [];
  const { until, used, usedInWeek } = await settledCosts(host).get();
  const costsSince = cacheBySince((since) => sumCosts(host, since));
  return Promise.all(
    figures.map(async ([upstream, { amount, as_of: day }]) => {
      const asOf = parseStartOfDay(day);
      const days = Math.max(1, (now() - Math.max(asOf, now() - week)) / 86_400_000);
      const recentCost = (await costsSince(Math.max(asOf, until))).get(upstream) ?? 0;
      return {
        upstream,
        amount: amount - (used.get(upstream) ?? 0) - recentCost,
        currency: section(upstreams)[upstream]?.cost?.currency ?? section(currencySection),
        perDay: ((usedInWeek.get(upstream) ?? 0) + recentCost) / days,
        asOf,
      };
    }),
  );
}

async function readSettled(host: FigureHost): Promise<SettledCosts> {
  // Records of the last hour may not be in the database yet.
  const until = startOfHour(host.now() - hourMs);
  const costsSince = cacheBySince((since) => sumCosts(host, since, until));
  const used = new Map<string, number>();
  const usedInWeek = new Map<string, number>();
  for (const [upstream, { as_of: day }] of Object.entries(host.section(balancesSection).own)) {
    const asOf = parseStartOfDay(day);
    used.set(upstream, (await costsSince(asOf)).get(upstream) ?? 0);
    usedInWeek.set(upstream, (await costsSince(Math.max(asOf, startOfHour(host.now() - week)))).get(upstream) ?? 0);
  }
  return { until, used, usedInWeek };
}

/** Reads each start time once, because several figures use the same day. */
function cacheBySince<T>(read: (since: number) => Promise<T>): (since: number) => Promise<T> {
  const readings = new Map<number, Promise<T>>();
  return (since) => {
    const reading = readings.get(since) ?? read(since);
    readings.set(since, reading);
    return reading;
  };
}

async function sumCosts({ section, database }: FigureHost, since: number, until?: number) {
  const configured = section(upstreams);
  const routeCosts = new Map(
    Object.values(section(models)).flatMap(({ routes }) =>
      routes.flatMap((route) =>
        typeof route === 'string' || route.cost === undefined ? [] : [[route.to, route.cost]],
      ),
    ),
  );
  const costs = new Map<string, number>();
  for (const { route, ...counts } of await countUsage(database.records, { since, until }, ['route'])) {
    if (route === null) continue;
    const [upstream] = splitRoute(route);
    const cost = computeCost(routeCosts.get(route) ?? configured[upstream]?.cost ?? {}, counts);
    costs.set(upstream, (costs.get(upstream) ?? 0) + cost);
  }
  return costs;
}

function parseStartOfDay(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

const perMillion = 1_000_000;

function computeCost({ input = 0, output = 0, image = 0, ...cost }: Cost, counts: UsageCounts): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, images } = counts;
  const { cached = input, cache_write: written = input } = cost;
  const tokens =
    (inputTokens - cacheReadTokens - cacheWriteTokens) * input +
    cacheReadTokens * cached +
    cacheWriteTokens * written +
    outputTokens * output;
  return tokens / perMillion + images * image;
}
