import { currencySection } from '#core/business/accounts/plans.ts';
import { type Cost, priceDecimals, parseDecimal, taxDecimals } from '#core/config/catalog/cost.ts';
import { publicNameOf } from '#core/config/catalog/model-name.ts';
import type { SectionValue } from '#core/config/section.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { models, splitRoute } from '#core/config/sections/models-section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { UsageCounts } from '#core/gateway/records/usage.ts';
import type { ExactMoney } from './exact-money.ts';
import { exchangeRatesSection, rateDecimals } from './exchange-rates.ts';

/** A monthly price that covers any number of requests. */
export interface FlatPrice {
  readonly name: string; // of the upstream, or of the route if it has its own price
  readonly monthly: ExactMoney;
}

interface Price {
  /** Price per token; `image` is the price per image. */
  readonly input: ExactMoney;
  readonly cached: ExactMoney;
  readonly cacheWrite: ExactMoney;
  readonly output: ExactMoney;
  readonly image: ExactMoney;
  readonly flat: FlatPrice | undefined;
}

export interface Prices {
  /** Finds the price of a route for a model, by public names. A route that is no longer configured costs what its upstream does. */
  find(model: string | null, route: string | null): Price | undefined;
  readonly flat: readonly FlatPrice[];
  readonly isDeclared: boolean;
  readonly taxes: readonly AddedTax[]; // added to declared prices, highest first; all other prices are used as declared
}

/** A tax that is part of costs but not of declared prices. */
export interface AddedTax {
  readonly percent: number;
  readonly of: readonly string[]; // names of the upstreams, and of routes with their own price, that are taxed
}

const perUnit = 10n ** 6n; // `convert` turns a price per million tokens into one per token; other prices are per unit
const hundredPercent = 10n ** BigInt(taxDecimals + 2); // in the unit in which taxes are stored

export function readPrices({ section }: Pick<Host, 'section'>): Prices {
  const rates = section(exchangeRatesSection);
  const currency = section(currencySection);
  const { prefix } = section(service);
  const readPrice = (name: string, cost: Cost) =>
    toPrice(name, cost, readRate(cost.currency ?? currency, currency, rates));
  const upstreamPrices = new Map<string, Price>();
  for (const [name, { cost }] of Object.entries(section(upstreams)))
    if (cost !== undefined) upstreamPrices.set(name, readPrice(name, cost));
  const routePrices = new Map<string, Price>();
  for (const [id, { routes }] of Object.entries(section(models)))
    for (const route of routes)
      if (typeof route !== 'string' && route.cost !== undefined)
        routePrices.set(`${publicNameOf(prefix, id)} ${route.to}`, readPrice(route.to, route.cost));
  const allPrices = [...upstreamPrices.values(), ...routePrices.values()];
  return {
    find: (model, route) =>
      route === null ? undefined : (routePrices.get(`${model} ${route}`) ?? upstreamPrices.get(splitRoute(route)[0])),
    flat: allPrices.flatMap(({ flat }) => flat ?? []),
    isDeclared: allPrices.length > 0,
    taxes: listTaxes(section),
  };
}

function listTaxes(section: Host['section']): AddedTax[] {
  const upstreamTaxes = Object.entries(section(upstreams)).map(([name, { cost }]) => ({ name, tax: cost?.tax }));
  const routeTaxes = Object.values(section(models)).flatMap(({ routes }) =>
    routes.flatMap((route) => (typeof route === 'string' ? [] : [{ name: route.to, tax: route.cost?.tax }])),
  );
  const taxed = [...upstreamTaxes, ...routeTaxes].flatMap(({ name, tax = 0 }) => (tax === 0 ? [] : [{ name, tax }]));
  return [...Map.groupBy(taxed, ({ tax }) => tax)]
    .map(([percent, group]) => ({ percent, of: [...new Set(group.map(({ name }) => name))].toSorted() }))
    .toSorted((first, second) => second.percent - first.percent);
}

function readRate(currency: string, planCurrency: string, rates: SectionValue<typeof exchangeRatesSection>): bigint {
  return parseExact(currency === planCurrency ? 1 : (rates[currency] ?? 0), rateDecimals);
}

function toPrice(name: string, cost: Cost, rate: bigint): Price {
  const taxFactor = hundredPercent + parseExact(cost.tax ?? 0, taxDecimals);
  const convert = (value = 0) => parseExact(value, priceDecimals) * rate * taxFactor;
  const { input, monthly } = cost;
  return {
    input: convert(input),
    cached: convert(cost.cached ?? input),
    cacheWrite: convert(cost.cache_write ?? input),
    output: convert(cost.output),
    image: convert(cost.image) * perUnit,
    flat: monthly === undefined ? undefined : { name, monthly: convert(monthly) * perUnit },
  };
}

/** The configuration check has already rejected invalid values. */
function parseExact(value: number, decimals: number): bigint {
  return parseDecimal(value, decimals) ?? 0n;
}

/** Excludes flat prices. The cost is linear: the cost of a sum is the sum of the costs. */
export function computeCost(price: Price, counts: UsageCounts): ExactMoney {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, images } = counts;
  return (
    BigInt(inputTokens - cacheReadTokens - cacheWriteTokens) * price.input +
    BigInt(cacheReadTokens) * price.cached +
    BigInt(cacheWriteTokens) * price.cacheWrite +
    BigInt(outputTokens) * price.output +
    BigInt(images) * price.image
  );
}
