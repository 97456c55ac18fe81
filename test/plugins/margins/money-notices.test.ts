import { describe, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import type { SectionValues } from '#core/config/section.ts';
import { listMoneyNotices } from '../../../plugins/margins/money-notices.ts';

interface Given {
  readonly currency?: string;
  readonly exchange_rates?: Readonly<Record<string, number>>;
  readonly upstreams?: object;
  readonly models?: object;
}

/** The notices of these sections. @param cost as gateway.yaml has it, of the upstream `a` and a route of it */
function noticesOf({ currency = 'IDR', exchange_rates = {}, upstreams = {}, models = {} }: Given, cost = '{}') {
  const text = `upstreams: { a: { cost: ${cost} } }\nmodels: { m: { routes: [a/x, { to: a/y, cost: ${cost} }] } }\n`;
  const { values: read, hasThousandsDot: isDotted } = parseDocument(text, 'gateway.yaml', {});
  const given = { currency, ...(cost === '{}' ? { upstreams, models } : read()) } as Readonly<Record<string, unknown>>;
  const values = { isDotted, get: ({ name }: { name: string }) => given[name] };
  return listMoneyNotices(exchange_rates, values as never as SectionValues);
}

describe('a rate of a strong currency in rupiah', () => {
  it.each([
    [16.4, ['exchange_rates.USD is read as: 1 USD is worth Rp 16.4; write 16400 without a dot']],
    [0.00006, ['exchange_rates.USD is read as: 1 USD is worth Rp 0.00006; write 16667, which is the other way round']],
    [164, ['exchange_rates.USD is read as: 1 USD is worth Rp 164; correct it']],
    [1_640_000, ['exchange_rates.USD is read as: 1 USD is worth Rp 1640000; correct it']],
    [16_400, []],
    [16_400.5, []],
  ])('of %d is noted where it cannot be meant', (USD, notices) => {
    expect(noticesOf({ exchange_rates: { USD } })).toEqual(notices);
  });

  it('is left alone for other currencies, and where plans are paid in another one', () => {
    expect(noticesOf({ exchange_rates: { JPY: 108.5 } })).toEqual([]);
    expect(noticesOf({ currency: 'EUR', exchange_rates: { USD: 0.92 } })).toEqual([]);
  });
});

describe('a cost', () => {
  const cost = 'input: 41.250, cached: 412.5, output: 0.075, image: 41.25, monthly: 900000';

  it('in rupiah with a dot before three digits is noted with how it is read, of upstreams and of routes', () => {
    const wrong = ' is read as Rp 41.25; write 41250 without a dot if that was meant';
    expect(noticesOf({}, `{ ${cost} }`)).toEqual([
      `upstreams.a.cost.input${wrong}`,
      `models.m.routes[1].cost.input${wrong}`,
    ]);
  });

  it('in dollars has decimals', () => {
    expect(noticesOf({}, `{ ${cost}, currency: USD }`)).toEqual([]);
  });

  it('in rupiah is noted where plans are paid in another currency', () => {
    expect(noticesOf({ currency: 'USD' }, `{ ${cost}, currency: IDR }`)).toHaveLength(2);
  });
});
