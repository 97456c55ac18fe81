import { currencySection } from '#core/business/accounts/plans.ts';
import { isOpenShop } from '#core/business/payments/section.ts';
import { defineSection, type Report, type SectionValue, type YamlPath } from '#core/config/section.ts';
import { array, boolean, type Infer, integer, number, object, string } from '#core/platform/schema.ts';
import { isDay } from '#core/platform/timing/time-zone.ts';
import { normalizeNpwp } from './company.ts';
import { type ReceiptTax, wholePrice } from './content.ts';

const tax = object(['name', 'rate'], 'A tax that prices include.', {
  name: string({ minLength: 1, maxLength: 40 }, 'Name on receipts, such as PPN.'),
  included: boolean('Always true, the default: prices include the tax, and nothing is added to them at checkout.'),
  rate: number({ minimum: 0, maximum: 100 }, 'Percent of `base`.'),
  base: string(
    { pattern: '^[1-9]\\d{0,3}(/[1-9]\\d{0,3})?$' },
    'The part of the price before tax to which the rate applies, such as 11/12. Default: all of it.',
  ),
  from: string(
    { pattern: '^\\d{4}-\\d\\d-\\d\\d$' },
    'First day, in `service.time_zone`, on which payments include it. Default: always. If there are several taxes, the latest applies.',
  ),
  rounding: {
    enum: ['nearest', 'down', 'up'],
    description: 'How the tax on a payment is rounded to the smallest unit of the currency. Default: nearest.',
  },
});

export const sellerSection = defineSection({
  name: 'seller',
  schema: object(
    { default: {} },
    'The seller named on receipts. With a name, each payment gets a receipt with a sequential number, which is stored with the payment and never changes. Without a name, the order page is a simple receipt in the name of the service.',
    {
      name: string({ minLength: 1, maxLength: 120 }, 'Name of the company or person who sells.'),
      address: string({ minLength: 1, maxLength: 400 }, 'Postal address; may have several lines.'),
      npwp: string(
        { minLength: 1, maxLength: 40 },
        'The seller’s Indonesian tax number (NPWP), in quotes: 16 digits, 22 for a place of business, or the 15 of an old one. Receipts show it only if they show a tax, because a person’s NPWP is also an identity number.',
      ),
      contact: string(
        { minLength: 1, maxLength: 120 },
        'Contact for buyers, shown on receipts. Default: `service.contact`.',
      ),
      registrations: array(
        { maxItems: 10, items: string({ minLength: 1, maxLength: 80 }) },
        'Registrations shown on receipts, such as "NIB 1234567890123" or "PSE 000123.01/DJAI.PSE/11/2026".',
      ),
      tax: {
        description:
          'Tax included in the prices: one tax, or a list with one entry per change. none, the default: receipts show no tax. A receipt keeps the tax that applied on its day.',
        anyOf: [{ const: 'none' }, tax, array({ minItems: 1, maxItems: 20, items: tax })],
      },
      keep_years: integer(
        { minimum: 1, maximum: 50, default: 10 },
        'Years to keep receipts, counted from the end of the calendar year of the payment, even if the buyer’s account is deleted.',
      ),
    },
  ),
  check({ name, npwp, tax: stated, ...others }, report) {
    const isNamed = name !== undefined;
    const dependentSettings = { npwp, tax: stated === 'none' ? undefined : stated, ...others, keep_years: undefined };
    if (!isNamed && Object.values(dependentSettings).some((value) => value !== undefined))
      report(['seller', 'name'], 'is missing', 'set it to the name of the company or person who sells');
    if (npwp !== undefined && normalizeNpwp(npwp) === undefined)
      report(
        ['seller', 'npwp'],
        `is "${npwp}", which is not an NPWP`,
        'use its 16 digits, 22 for a place of business, or the 15 of an old one',
      );
    if (stated === undefined || stated === 'none') return;
    if (Array.isArray(stated))
      for (const [index, entry] of stated.entries()) checkTax(entry, ['seller', 'tax', index], report);
    else checkTax(stated, ['seller', 'tax'], report);
  },
  notices({ name, npwp, address, tax: stated }, all) {
    if (name === undefined) return isOpenShop(all.get) ? [noSellerNotice] : [];
    const hasTax = stated !== undefined && stated !== 'none';
    return [
      ...(address === undefined ? ['seller.address is not set, so receipts do not show the seller’s address'] : []),
      ...(hasTax && npwp === undefined && all.get(currencySection) === 'IDR'
        ? ['seller.tax is set without seller.npwp: a receipt with PPN shows the seller’s NPWP']
        : []),
    ];
  },
});

const noSellerNotice =
  'seller.name is not set; payments received without it never get a receipt: set seller: { name, address } before the first sale';

type SellerTax = Infer<typeof tax>;
export type Seller = SectionValue<typeof sellerSection>;

function checkTax({ included = true, base = wholePrice, from }: SellerTax, path: YamlPath, report: Report): void {
  if (!included)
    report(
      [...path, 'included'],
      'is false, and nothing may be added to a price at checkout',
      'set prices that include the tax',
    );
  const [numerator = 1, denominator = 1] = base.split('/').map(Number);
  if (numerator > denominator)
    report([...path, 'base'], `is ${base}, more than the price`, 'use a part of it, such as 11/12');
  if (from !== undefined && !isDay(from))
    report([...path, 'from'], `is "${from}", which is not a valid date`, 'use one such as 2025-01-01');
}

/** `day` is in the service's time zone: `2026-11-22`. */
export function findTax({ tax: stated }: Pick<Seller, 'tax'>, day: string): ReceiptTax | undefined {
  if (stated === undefined || stated === 'none') return undefined;
  const startedTaxes = [stated].flat().filter(({ from = '' }) => from <= day);
  const currentTax = startedTaxes.reduce<SellerTax | undefined>(
    (latest, entry) => (latest === undefined || (entry.from ?? '') >= (latest.from ?? '') ? entry : latest),
    undefined,
  );
  return (
    currentTax && {
      name: currentTax.name,
      rate: currentTax.rate,
      base: currentTax.base ?? wholePrice,
      rounding: currentTax.rounding ?? 'nearest',
    }
  );
}
