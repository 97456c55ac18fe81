import { currencySection } from '#core/business/accounts/plans.ts';
import { parseDecimal, type Cost } from '#core/config/catalog/cost.ts';
import { defineSection, type YamlPath } from '#core/config/section.ts';
import { models } from '#core/config/sections/models-section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import { number } from '#core/platform/schema.ts';
import { listMoneyNotices } from './money-notices.ts';

export const rateDecimals = 12;

export const exchangeRatesSection = defineSection({
  name: 'exchange_rates',
  schema: {
    type: 'object',
    description:
      'What one unit of another currency is worth in the currency of the plans, for upstreams that bill in it, such as { USD: 16400 } if plans are paid in rupiah.',
    default: {},
    propertyNames: { pattern: '^[A-Z]{3}$', description: 'Three-letter ISO 4217 code.' },
    additionalProperties: number(
      { exclusiveMinimum: 0, maximum: 999_999_999 },
      'In the currency of the plans, with up to 12 decimals.',
    ),
  },
  check(rates, report, all) {
    const planCurrency = all.get(currencySection);
    for (const [currency, rate] of Object.entries(rates)) {
      const path = ['exchange_rates', currency];
      if (currency === planCurrency) report(path, 'is the currency of the plans', 'remove it');
      else if (!Intl.supportedValuesOf('currency').includes(currency))
        report(path, 'is not a currency', 'use an ISO 4217 code, for example USD');
      else if (parseDecimal(rate, rateDecimals) === undefined)
        report(path, `is ${rate}`, 'write at most 12 digits after the decimal point');
    }
    const knownCurrencies = new Set([planCurrency, ...Object.keys(rates)]);
    const requireRate = (cost: Cost | undefined, path: YamlPath) => {
      if (cost?.currency === undefined || knownCurrencies.has(cost.currency)) return;
      const advice = `add it: exchange_rates: { ${cost.currency}: … }, in ${planCurrency}`;
      report([...path, 'currency'], `is ${cost.currency}, whose rate is missing`, advice);
    };
    for (const [name, { cost }] of Object.entries(all.isValid(upstreams) ? all.get(upstreams) : {}))
      requireRate(cost, ['upstreams', name, 'cost']);
    for (const [name, { routes }] of Object.entries(all.isValid(models) ? all.get(models) : {}))
      for (const [index, route] of routes.entries())
        if (typeof route !== 'string') requireRate(route.cost, ['models', name, 'routes', index, 'cost']);
  },
  notices: listMoneyNotices,
});
