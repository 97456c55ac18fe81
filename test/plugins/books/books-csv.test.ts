import { expect, it } from 'vitest';
import type { Movement } from '#core/business/payments/movements.ts';
import { BooksCsv } from '../../../plugins/books/books-csv.ts';

const movement = (change: Partial<Movement> = {}): Movement => ({
  kind: 'payment',
  at: new Date('2026-11-22T01:00:00Z'),
  order: 'ORD-7F3K2MQX',
  orderState: 'paid',
  accountId: 'account',
  days: 7,
  label: undefined,
  amount: 95_000,
  currency: 'IDR',
  fee: undefined,
  provider: 'midtrans',
  reference: 'ORD-7F3K2MQX.1',
  paymentId: 'payment',
  issuer: undefined,
  outcome: 'activated',
  isFlagged: false,
  isReconciled: true,
  isGift: false,
  ...change,
});

function totalsOf(...movements: readonly Movement[]): string[] {
  const csv = new BooksCsv('UTC', true);
  return [...movements.flatMap((one) => csv.renderMovement(one)), ...csv.renderTotals()].filter((line) =>
    line.includes(',total,'),
  );
}

it('the total of a provider that states no fees has none, rather than a fee of 0', () => {
  expect(totalsOf(movement(), movement({ amount: 48_000 }))).toEqual([
    '2026-11-22,,total,,143000,IDR,,,,midtrans,,,,,,,,143000,,,',
  ]);
});

it('a total has the fees that are known, a free payment among them', () => {
  expect(totalsOf(movement(), movement({ fee: 665 }))).toEqual([
    '2026-11-22,,total,,190000,IDR,,,,midtrans,,,,,,,665,189335,,,',
  ]);
  expect(totalsOf(movement({ fee: 0 }))).toEqual(['2026-11-22,,total,,95000,IDR,,,,midtrans,,,,,,,0,95000,,,']);
});

it('each day and each provider has a total of its own', () => {
  const next = new Date('2026-11-23T01:00:00Z');
  const totals = totalsOf(movement(), movement({ provider: 'xendit' }), movement({ at: next }));
  expect(totals.map((line) => [line.slice(0, 10), line.split(',')[9]])).toEqual([
    ['2026-11-22', 'midtrans'],
    ['2026-11-22', 'xendit'],
    ['2026-11-23', 'midtrans'],
  ]);
});
