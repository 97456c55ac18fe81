import { describe, expect, it } from 'vitest';
import { currencySection } from '#core/business/accounts/plans.ts';
import { parseDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { exchangeRatesSection } from '../../../plugins/margins/exchange-rates.ts';
import { complete, createRegistry } from '../../core/config/fixture.ts';

/** The mistakes in a gateway.yaml whose plans are paid in rupiah, without the places of its lines. */
function mistakesIn(text: string): string[] {
  const document = parseDocument(complete(`currency: IDR\n${text}`), 'gateway.yaml', {});
  try {
    validate(document, createRegistry([currencySection, exchangeRatesSection]));
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n').map((line) => line.replace(/^gateway\.yaml:\d+:\d+ /, ''));
  }
}

const upstream = (cost: string) => `upstreams: { one: { format: chat, base_url: "http://x", cost: ${cost} } }`;

describe('exchange_rates', () => {
  it('may have twelve decimals, and only currencies of ISO 4217 other than that of plans', () => {
    expect(mistakesIn('exchange_rates: { USD: 16400.5, JPY: 0.000000000001 }')).toEqual([]);
    expect(mistakesIn('exchange_rates: { IDR: 1 }')).toEqual([
      'exchange_rates.IDR: is the currency of the plans; remove it',
    ]);
    expect(mistakesIn('exchange_rates: { ABC: 2 }')).toEqual([
      'exchange_rates.ABC: is not a currency; use an ISO 4217 code, for example USD',
    ]);
    expect(mistakesIn('exchange_rates: { USD: 1.0000000000001 }')).toEqual([
      'exchange_rates.USD: is 1.0000000000001; write at most 12 digits after the decimal point',
    ]);
  });

  it('must have the currency of every cost, of an upstream or of a route', () => {
    const advice = 'add it: exchange_rates: { USD: … }, in IDR';
    expect(mistakesIn(upstream('{ input: 1, currency: USD }'))).toEqual([
      `upstreams.one.cost.currency: is USD, whose rate is missing; ${advice}`,
    ]);
    expect(mistakesIn('models: { test: { routes: [{ to: one/x, cost: { input: 1, currency: USD } }] } }')).toEqual([
      `models.test.routes[0].cost.currency: is USD, whose rate is missing; ${advice}`,
    ]);
    for (const cost of ['{ input: 1 }', '{ input: 1, currency: IDR }']) expect(mistakesIn(upstream(cost))).toEqual([]);
    expect(mistakesIn(`exchange_rates: { USD: 16400 }\n${upstream('{ input: 1, currency: USD }')}`)).toEqual([]);
  });
});
