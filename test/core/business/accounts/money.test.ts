import { expect, it } from 'vitest';
import { formatMoney } from '#core/business/accounts/money.ts';

it.each([
  [18_000, 'IDR', 'Rp 18.000'],
  [1, 'IDR', 'Rp 1'],
  [1_999, 'USD', '$19.99'],
  [5, 'USD', '$0.05'],
  [100, 'EUR', '€1.00'],
  [500, 'JPY', '¥500'],
  [1_234, 'KWD', 'KWD 1.234'],
  [0, 'USD', '$0.00'],
  [-50_000, 'IDR', '\u2212Rp 50.000'],
  [-1_999, 'USD', '\u2212$19.99'],
  [1_000_000_000_000, 'IDR', 'Rp 1.000.000.000.000'],
])('%i in %s is %s', (amount, currency, text) => {
  // Intl sets a no-break space behind a currency's code.
  expect(formatMoney(amount, currency).replaceAll('\u00a0', ' ')).toBe(text);
});
