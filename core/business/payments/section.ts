import {
  type CheckContext,
  defineSection,
  type ProviderTerms,
  type Report,
  type SectionValues,
} from '#core/config/section.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { isLoopback } from '#core/platform/names/loopback.ts';
import { boolean, integer, number, object, string } from '#core/platform/schema.ts';
import { currencySection, plansSection } from '../accounts/plans.ts';

export const noProvider = 'none'; // turns sales off
export const defaultProvider = 'sandbox'; // except in production

export const paymentsSection = defineSection({
  name: 'payments',
  schema: object({ default: {} }, 'How plans are paid.', {
    provider: string(
      { pattern: '^[a-z][a-z0-9-]*$' },
      'Name of the payment provider, for example midtrans or xendit, or none to sell nothing. Default: sandbox, which moves no money and is refused when service.base_url is not this machine; with NODE_ENV=production: none.',
    ),
    order_minutes: integer({ minimum: 5, maximum: 1440, default: 30 }, 'Minutes for which an order can be paid.'),
    gifts: boolean(
      { default: false },
      'Whether passes can be bought as gifts: the buyer gets a code, and the account that redeems it within a year gets the days.',
    ),
    qris_mark: string(
      { minLength: 1 },
      'File with the QRIS mark, a PNG, relative to the data folder. It is shown next to QR codes, on the page and in the saved picture. Get it from your payment provider; none is included.',
    ),
    decision_hours: integer(
      { minimum: 1, maximum: 720, default: 24 },
      'Hours within which a buyer whose payment activated no plan is promised a decision.',
    ),
    calls_per_second: number(
      { minimum: 0.1, maximum: 10_000 },
      "Maximum calls per second to each endpoint of the provider, from all instances together. Default: the provider's documented limit (xendit: 10, in test mode 1), otherwise 20. If the provider refuses calls, the rate is halved, and rises again slowly.",
    ),
    max_open_orders: integer(
      { minimum: 1, maximum: 1_000, default: 5 },
      'Maximum number of orders of one account that await payment at the same time.',
    ),
    max_charges_per_hour: integer(
      { minimum: 1, maximum: 100_000, default: 20 },
      'Maximum number of charges, each with a QR code, that one account may create within an hour without paying them.',
    ),
    max_charges_per_hour_and_address: integer(
      { minimum: 1, maximum: 1_000_000, default: 500 },
      'The same limit for all accounts together at one IPv4 address, or in one IPv6 network (/64). Paid charges count as well. Raise it when many customers share an address.',
    ),
    keep_notifications_days: integer(
      { minimum: 400, maximum: 36_500, default: 730 },
      "Days to keep the provider's notifications. Orders, payments and refunds are kept permanently. At least 400: some refunds and disputes take a year.",
    ),
  }),
  check({ provider: name, ...limits }, report, all) {
    if (limits.max_charges_per_hour_and_address < limits.max_charges_per_hour)
      report(
        ['payments', 'max_charges_per_hour_and_address'],
        `is under payments.max_charges_per_hour, which is ${limits.max_charges_per_hour}`,
        'use at least as many: an account has one address at a time',
      );
    if (name === noProvider) return;
    if (name === undefined) return checkDefaultProvider(all, report);
    const provider = all.paymentProviders.get(name);
    if (provider === undefined) {
      if (!all.hasAllPlugins) return;
      const names = [...all.paymentProviders.keys()].join(', ');
      report(['payments', 'provider'], `is "${name}", which no plugin provides`, `use one of: ${names}, none`);
    } else if (provider.isSandbox === true && all.production !== undefined) {
      const { because, unless } = all.production;
      report(
        ['payments', 'provider'],
        `is "${name}", which moves no money, ${because}`,
        `use a provider that takes payments, or none${unless}`,
      );
    } else {
      if (all.isProduction) checkPublicUrl(all, report);
      checkOffers(provider, all, report);
      provider.check?.(all, report);
    }
  },
  notices: ({ max_open_orders: open, max_charges_per_hour: charges }) =>
    open > charges
      ? [`payments.max_open_orders is ${open}, but an account gets ${charges} charges an hour (max_charges_per_hour)`]
      : [],
});

/** Returns true if strangers pay real money here. Such a shop has to meet more requirements than a gateway that only its owner uses. */
export function isOpenShop(section: SectionValues['get']): boolean {
  const { provider = defaultProvider } = section(paymentsSection);
  const { base_url: url = '', unsafe_public_demo: isDemo } = section(service);
  const movesMoney = provider !== noProvider && provider !== defaultProvider && !isDemo;
  return movesMoney && !isLoopback(URL.parse(url)?.hostname ?? 'localhost');
}

function checkDefaultProvider({ production }: CheckContext, report: Report): void {
  // With NODE_ENV=production, the default is to sell nothing.
  if (production === undefined || production.unless === '') return;
  report(
    ['service', 'base_url'],
    'is not this machine, and payments.provider is not set, so customers would pay in the sandbox, which moves no money',
    `set payments: { provider: midtrans } or another provider that takes payments, or none${production.unless}`,
  );
}

function checkOffers({ name, currencies, amounts }: ProviderTerms, all: CheckContext, report: Report): void {
  const plans = all.get(plansSection);
  const currency = all.get(currencySection);
  if (plans.length > 0 && !currencies.includes(currency)) {
    const advice = `use ${currencies.join(' or ')}, or another provider`;
    return report(['currency'], `is ${currency}, which the payment provider ${name} does not accept`, advice);
  }
  if (amounts === undefined) return;
  for (const [index, { price }] of plans.entries()) {
    const path = ['plans', index, 'price'];
    if (price > amounts.most)
      report(path, `is over ${amounts.most} ${currency}, the most that ${name} accepts in a payment`, 'lower it');
    else if (price < amounts.least)
      report(path, `is under ${amounts.least} ${currency}, the least that ${name} accepts in a payment`, 'raise it');
  }
}

function checkPublicUrl(all: CheckContext, report: Report): void {
  const { base_url: url = '' } = all.get(service);
  if (url.startsWith('https:')) return;
  report(
    ['payments', 'provider'],
    `is notified at service.base_url, which is ${url === '' ? 'not set' : 'not HTTPS'}`,
    'set service: { base_url: https://… }, the public URL of this gateway',
  );
}

/** Finds options that have no effect because the folder of the plugin that implements them was deleted. */
export function findIneffectiveOptions(
  { section }: Pick<Host, 'section'>,
  tables: Pick<ReadonlyMap<string, unknown>, 'has'>,
): string[] {
  const sellsGifts = section(paymentsSection).gifts && !tables.has('voucher');
  const isLimited = section(plansSection).some((plan) => plan.max_active !== undefined) && !tables.has('sales');
  return [
    ...(sellsGifts ? ['payments.gifts is true, but nothing is sold as a gift without the plugin vouchers'] : []),
    ...(isLimited ? ['max_active of a plan has no effect without the plugin sales'] : []),
  ];
}
