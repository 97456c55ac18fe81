import { describe, expect, it } from 'vitest';
import { currencySection, selectLabel, plansSection } from '#core/business/accounts/plans.ts';
import type { AnyStageDefinition } from '#core/gateway/pipeline/stage.ts';
import { mistakesIn, readYaml } from './yaml-fixture.ts';

const stage: AnyStageDefinition = { name: 'any', description: 'Any.', options: { type: 'object' }, create: () => ({}) };
const known = { sections: [plansSection, currencySection], stages: [stage] };
const read = (text: string) => readYaml(`pipeline: [any]\n${text}`, known);
const mistakes = (text: string) => mistakesIn(`pipeline: [any]\n${text}`, known);

describe('plans', () => {
  it('are for 1, 3, 7 and 30 days by default', () => {
    expect(
      read('')
        .get(plansSection)
        .map(({ days }) => days),
    ).toEqual([1, 3, 7, 30]);
  });

  it('can have 1 to 365 days, with or without a label', () => {
    expect(mistakes('plans: [{ days: 1, price: 1 }, { days: 365, price: 500000, label: a year }]')).toEqual([]);
  });

  it('have labels for both languages, or one for all readers', () => {
    const [both, one, none] = read(
      'plans: [{ days: 1, price: 1, label: { en: a try, id: coba } }, { days: 2, price: 2, label: x }, { days: 3, price: 3 }]',
    ).get(plansSection);
    expect([selectLabel('en', both?.label), selectLabel('id', both?.label)]).toEqual(['a try', 'coba']);
    expect([selectLabel('id', one?.label), selectLabel('id', none?.label)]).toEqual(['x', undefined]);
  });

  it.each([
    ['an empty label', '""'],
    ['a label that one language lacks', '{ en: a try }'],
    ['a label in an unknown language', '{ en: a, id: b, fr: c }'],
  ])('cannot have %s', (_, label) => {
    expect(mistakes(`plans: [{ days: 1, price: 1, label: ${label} }]`).length).toBeGreaterThan(0);
  });

  it('cost up to a trillion, and are recommended one at a time', () => {
    expect(mistakes('plans: [{ days: 1, price: 1000000000000 }]')).toEqual([]);
    expect(mistakes('plans: [{ days: 1, price: 1000000000001 }]')).toHaveLength(1);
    const both = '{ days: 1, price: 1, recommended: true }, { days: 2, price: 2, recommended: true }';
    expect(mistakes(`plans: [{ days: 3, price: 3 }, ${both}]`)).toEqual([
      expect.stringContaining('plans[2].recommended: is also true in plan 2; mark one plan'),
    ]);
  });

  it.each([
    ['label', 'x'.repeat(80), 'x'.repeat(81)],
    ['limits', '{ period: 1 }', '{ period: 0.5 }'],
    ['limits', '{ period: 86400 }', '{ period: 86401 }'],
    ['limits', '{ limit: 1000000000, burst: 1000000000 }', '{ limit: 1000000001 }'],
    ['limits', '{ concurrent: 1000000 }', '{ concurrent: 1000001 }'],
  ])('have a %s of %s at most or least, and not of %s', (name, taken, refused) => {
    expect(mistakes(`plans: [{ days: 1, price: 1, ${name}: ${taken} }]`)).toEqual([]);
    expect(mistakes(`plans: [{ days: 1, price: 1, ${name}: ${refused} }]`).length).toBeGreaterThan(0);
  });

  it('can carry limits, all or some of them', () => {
    const limits = '{ limit: 600, period: 60, burst: 100, concurrent: 32 }';
    expect(
      mistakes(`plans: [{ days: 1, price: 1, limits: ${limits} }, { days: 7, price: 5, limits: { burst: 9 } }]`),
    ).toEqual([]);
  });

  it.each([
    ['no days', '{ price: 1 }'],
    ['no price', '{ days: 1 }'],
    ['half days', '{ days: 1.5, price: 1 }'],
    ['zero days', '{ days: 0, price: 1 }'],
    ['more than a year', '{ days: 366, price: 1 }'],
    ['a price with decimals', '{ days: 1, price: 9.99 }'],
    ['a price of nothing', '{ days: 1, price: 0 }'],
    ['a misspelt key', '{ days: 1, price: 1, lable: x }'],
    ['limits without a value', '{ days: 1, price: 1, limits: {} }'],
    ['a limit of nothing', '{ days: 1, price: 1, limits: { limit: 0 } }'],
    ['a misspelt limit', '{ days: 1, price: 1, limits: { brust: 5 } }'],
  ])('are refused with %s', (_name, plan) => {
    expect(mistakes(`plans: [${plan}]`)).toEqual([expect.stringMatching(/^gateway\.yaml:2:\d+ plans\[0\]/)]);
  });

  it('are refused when two have the same number of days', () => {
    expect(mistakes('plans:\n  - { days: 1, price: 1 }\n  - { days: 1, price: 2 }')).toEqual([
      'gateway.yaml:4:13 plans[1].days: is 1, the same as in plan 1; give each plan a different number of days',
    ]);
  });

  it('are refused when the list is empty', () => {
    expect(mistakes('plans: []')).toHaveLength(1);
  });
});

describe('currency', () => {
  it('is IDR by default', () => {
    expect(read('').get(currencySection)).toBe('IDR');
  });

  it('can be any currency of ISO 4217', () => {
    expect(['IDR', 'USD', 'EUR', 'JPY'].flatMap((code) => mistakes(`currency: ${code}`))).toEqual([]);
  });

  it('is refused when it is not a code', () => {
    expect(mistakes('currency: rupiah')).toHaveLength(1);
  });

  it('is refused when the code is unknown', () => {
    expect(mistakes('currency: RPH')).toEqual([
      'gateway.yaml:2:11 currency: is "RPH", which is not a currency; use a code of ISO 4217, for example IDR or USD',
    ]);
  });
});
