import { currencySection } from '#core/business/accounts/plans.ts';
import type { Cost } from '#core/config/catalog/cost.ts';
import type { SectionValues, YamlPath } from '#core/config/section.ts';
import { models } from '#core/config/sections/models-section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';

/** Plausible rupiah per dollar or euro. In the ten years before 2026, actual rates were 14,000 to 20,000. */
const plausibleRates = { min: 1_000, max: 100_000 };
const strongCurrencies = new Set(['EUR', 'GBP', 'USD']);
const prices = ['input', 'cached', 'cache_write', 'output', 'image', 'monthly'] as const;

/**
 * Warns about rates and costs in rupiah that were probably mistyped. YAML reads 16.400, the Indonesian notation for sixteen thousand four
 * hundred, as 16.4. Amounts in other currencies may have decimals, so they are not checked.
 */
export function listMoneyNotices(rates: Readonly<Record<string, number>>, values: SectionValues): string[] {
  const planCurrency = values.get(currencySection);
  return [
    ...(planCurrency === 'IDR' ? Object.entries(rates) : []).flatMap(([currency, rate]) =>
      listRateNotices(currency, rate),
    ),
    ...listCosts(values).flatMap(({ path, place, cost }) =>
      (cost.currency ?? planCurrency) === 'IDR' ? listPriceNotices({ path, place, cost }, values) : [],
    ),
  ];
}

function listRateNotices(currency: string, rate: number): string[] {
  const { min, max } = plausibleRates;
  if (!strongCurrencies.has(currency) || (rate >= min && rate <= max)) return [];
  const reading = `exchange_rates.${currency} is read as: 1 ${currency} is worth Rp ${rate}`;
  const inverse = 1 / rate;
  if (inverse >= min && inverse <= max)
    return [`${reading}; write ${Math.round(inverse)}, which is the other way round`];
  return [hasThreeDecimals(rate) ? `${reading}; write ${removeDot(rate)} without a dot` : `${reading}; correct it`];
}

function listPriceNotices({ path, place, cost }: PlacedCost, { isDotted }: SectionValues): string[] {
  return prices.flatMap((name) => {
    const price = cost[name];
    if (price === undefined || isDotted?.([...path, name]) !== true) return [];
    return [`${place}.${name} is read as Rp ${price}; write ${removeDot(price)} without a dot if that was meant`];
  });
}

/** Such a number may contain a thousands separator, as 16.400 does; 0.075 and 16.4321 cannot. */
function hasThreeDecimals(value: number): boolean {
  return value >= 1 && value < 1_000 && !Number.isInteger(value) && Math.abs(removeDot(value) - value * 1_000) < 1e-6;
}

function removeDot(value: number): number {
  return Math.round(value * 1_000);
}

interface PlacedCost {
  readonly path: YamlPath;
  readonly place: string;
  readonly cost: Cost;
}

function listCosts(values: SectionValues): PlacedCost[] {
  const upstreamCosts = Object.entries(values.get(upstreams)).map(
    ([name, { cost }]) => ({ path: ['upstreams', name], place: `upstreams.${name}`, cost }) as const,
  );
  const routeCosts = Object.entries(values.get(models)).flatMap(([name, { routes }]) =>
    routes.map((route, index) => ({
      path: ['models', name, 'routes', index],
      place: `models.${name}.routes[${index}]`,
      cost: typeof route === 'string' ? undefined : route.cost,
    })),
  );
  return [...upstreamCosts, ...routeCosts].flatMap(({ path, place, cost }) =>
    cost === undefined ? [] : [{ path: [...path, 'cost'], place: `${place}.cost`, cost }],
  );
}
