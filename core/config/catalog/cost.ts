import { number, object, string, type Infer } from '#core/platform/schema.ts';

export const priceDecimals = 6;
export const taxDecimals = 2;

// Even with six decimals, every allowed price has at most 15 digits, which a JavaScript number represents exactly.
const price = number({ minimum: 0, maximum: 999_999_999 });

/** What a route's requests cost the operator. Customers do not see it. */
export const costSchema = object(
  { minProperties: 1 },
  'Cost to the operator, shown to operators next to usage. Tokens are priced per million; prices have up to six decimals. ' +
    'Omitted prices are zero.',
  {
    input: number(price, 'Per million input tokens.'),
    cached: number(price, 'Per million input tokens read from the vendor’s cache. Default: same as input.'),
    cache_write: number(price, 'Per million input tokens written to the vendor’s cache. Default: same as input.'),
    output: number(price, 'Per million output tokens.'),
    image: number(price, 'Per image that the Images API made.'),
    monthly: number(price, 'Flat, per calendar month in service.time_zone.'),
    tax: number(
      { minimum: 0, maximum: 100 },
      'Percentage added on top of these prices, such as 11 if a vendor adds PPN; up to two decimals. Computed costs include it. Default: none (the prices include the tax, or there is none).',
    ),
    currency: string(
      { pattern: '^[A-Z]{3}$' },
      'Currency of these prices. Default: the currency of plans. Any other currency needs a rate under exchange_rates.',
    ),
  },
);

export type Cost = Infer<typeof costSchema>;

/**
 * Converts a number from gateway.yaml to its exact value, as a multiple of 10^-`digits`; undefined if it has more decimals. With up to 15
 * digits, a number's shortest text is the text in the file.
 */
export function parseDecimal(value: number, digits: number): bigint | undefined {
  const [, whole = '', fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(value)) ?? [];
  const missingDigits = digits - fraction.length - Number(exponent);
  return whole === '' || missingDigits < 0 ? undefined : BigInt(whole + fraction) * 10n ** BigInt(missingDigits);
}
