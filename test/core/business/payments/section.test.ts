import { describe, expect, it } from 'vitest';
import { qrisAmountLimits } from '#core/business/payments/qris.ts';
import { paymentsSection } from '#core/business/payments/section.ts';
import type { CheckContext } from '#core/config/section.ts';

const inEnvironment = { because: 'with NODE_ENV=production', unless: '' };
const byUrl = { because: 'while service.base_url is not this machine', unless: ', or set the option' };

function mistakes(
  provider: string | undefined,
  production?: typeof byUrl,
  baseUrl?: string,
  { currency = 'IDR', price = 18_000, byAddress = 500 } = {},
): string[] {
  const found: string[] = [];
  const paymentProviders = new Map(
    [{ name: 'midtrans' }, { name: 'sandbox', isSandbox: true }].map((one) => [
      one.name,
      { ...one, currencies: ['IDR'], amounts: qrisAmountLimits },
    ]),
  );
  const context = {
    get: ({ name }: { name: string }) =>
      ({ plans: [{ days: 1, price }], currency, service: { base_url: baseUrl } })[name],
    isProduction: production !== undefined,
    production,
    paymentProviders,
    hasAllPlugins: true,
  };
  const report = (path: readonly (string | number)[], wrong: string, right: string) =>
    void found.push(`${path.join('.')} ${wrong}; ${right}`);
  paymentsSection.check?.(
    {
      ...(provider !== undefined && { provider }),
      order_minutes: 30,
      gifts: false,
      decision_hours: 24,
      max_open_orders: 5,
      max_charges_per_hour: 20,
      max_charges_per_hour_and_address: byAddress,
      keep_notifications_days: 730,
    },
    report,
    context as unknown as CheckContext,
  );
  return found;
}

describe('a provider that takes money', () => {
  it.each([
    [undefined, 'is notified at service.base_url, which is not set'],
    ['', 'is notified at service.base_url, which is not set'],
    ['http://ai.example', 'is notified at service.base_url, which is not HTTPS'],
  ])('is refused in production with the public URL %j', (baseUrl, wrong) => {
    expect(mistakes('midtrans', inEnvironment, baseUrl)).toEqual([expect.stringContaining(wrong)]);
    expect(mistakes('midtrans', undefined, baseUrl)).toEqual([]);
  });

  it('is accepted in production with HTTPS', () => {
    expect(mistakes('midtrans', inEnvironment, 'https://ai.example')).toEqual([]);
  });
});

describe('plans that the provider cannot sell', () => {
  it.each([
    [
      'in another currency',
      { currency: 'USD' },
      'currency is USD, which the payment provider midtrans does not accept; ',
    ],
    ['over its limit', { price: 10_000_001 }, 'plans.0.price is over 10000000 IDR, the most that midtrans accepts'],
    ['under its limit', { price: 0 }, 'plans.0.price is under 1 IDR, the least that midtrans accepts'],
  ])('are refused: %s', (_, offer, wrong) => {
    expect(mistakes('midtrans', undefined, undefined, offer)).toEqual([expect.stringContaining(wrong)]);
  });

  it('may cost as much as the provider takes', () => {
    expect(mistakes('midtrans', undefined, undefined, { price: 10_000_000 })).toEqual([]);
  });
});

describe('the sandbox', () => {
  it('is accepted on the own machine', () => {
    expect(mistakes('sandbox')).toEqual([]);
    expect(mistakes(undefined)).toEqual([]);
  });

  it('is refused in production, with what allows it if anything does', () => {
    expect(mistakes('sandbox', inEnvironment)).toEqual([
      'payments.provider is "sandbox", which moves no money, with NODE_ENV=production; use a provider that takes payments, or none',
    ]);
    expect(mistakes('sandbox', byUrl)).toEqual([
      'payments.provider is "sandbox", which moves no money, while service.base_url is not this machine; use a provider that takes payments, or none, or set the option',
    ]);
  });

  it('is refused as the default at a public URL', () => {
    expect(mistakes(undefined, byUrl)).toEqual([
      expect.stringContaining(
        'service.base_url is not this machine, and payments.provider is not set, so customers would pay in the sandbox',
      ),
    ]);
  });

  it('is not the default in the environment of production, which sells nothing then', () => {
    expect(mistakes(undefined, inEnvironment)).toEqual([]);
  });

  it('is not the default where nothing is sold explicitly', () => {
    expect(mistakes('none', byUrl)).toEqual([]);
  });
});

describe('limits of charges', () => {
  it('are refused when no account could reach its own', () => {
    expect(mistakes('none', undefined, undefined, { byAddress: 19 })).toEqual([
      'payments.max_charges_per_hour_and_address is under payments.max_charges_per_hour, which is 20; use at least as many: an account has one address at a time',
    ]);
    expect(mistakes('none', undefined, undefined, { byAddress: 20 })).toEqual([]);
  });
});
