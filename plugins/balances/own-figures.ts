import { currencySection } from '#core/business/accounts/plans.ts';
import type { Cost } from '#core/config/catalog/cost.ts';
import { models, splitRoute } from '#core/config/sections/models-section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { countUsage, type UsageCounts } from '#core/gateway/records/usage.ts';
import { week } from './forecast.ts';
import { balancesSection } from './section.ts';

/** What is left of an operator's own figure. */
interface OwnFigure {
  readonly upstream: string;
  readonly amount: number;
  readonly currency: string;
  readonly perDay: number;
  readonly asOf: number; // epoch ms
}

/** Own figures less what was used since. Estimates: prices are not rounded as vendors do. */
export async function readOwnFigures({
  section,
  database,
  now,
}: Pick<Host, 'section' | 'database' | 'now'>): Promise<OwnFigure[]> {
  const own = Object.entries(section(balancesSection).own);
  if (own.length === 0) return [];
  const priced = section(upstreams);
  const ofRoutes = new Map(
    Object.values(section(models)).flatMap(({ routes }) =>
      routes.flatMap((route) =>
        typeof route === 'string' || route.cost === undefined ? [] : [[route.to, route.cost]],
      ),
    ),
  );
  const costIn = async (upstream: string, since: number) => {
    const usage = await countUsage(database, { since }, ['route']);
    return usage.reduce((sum, { route, ...counts }) => {
      if (route === null || splitRoute(route)[0] !== upstream) return sum;
      return sum + costOf(ofRoutes.get(route) ?? priced[upstream]?.cost ?? {}, counts);
    }, 0);
  };
  return Promise.all(
    own.map(async ([upstream, { amount, as_of: day }]) => {
      const asOf = Date.parse(`${day}T00:00:00Z`);
      const since = Math.max(asOf, now() - week);
      const [used, recent] = await Promise.all([costIn(upstream, asOf), costIn(upstream, since)]);
      const days = Math.max(1, (now() - since) / 86_400_000);
      const currency = priced[upstream]?.cost?.currency ?? section(currencySection);
      return { upstream, amount: amount - used, currency, perDay: recent / days, asOf };
    }),
  );
}

const perMillion = 1_000_000;

function costOf({ input = 0, output = 0, image = 0, ...cost }: Cost, counts: UsageCounts): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, images } = counts;
  const { cached = input, cache_write: written = input } = cost;
  const tokens =
    (inputTokens - cacheReadTokens - cacheWriteTokens) * input +
    cacheReadTokens * cached +
    cacheWriteTokens * written +
    outputTokens * output;
  return tokens / perMillion + images * image;
}
