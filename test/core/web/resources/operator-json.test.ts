import { expect, it } from 'vitest';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';

const at = new Date('2026-11-22T13:00:00Z');

it('operators read members in snake_case, times as RFC 3339, and null for what is not known', () => {
  const json = toOperatorJson({ createdAt: at, paidAt: undefined, attempts: [{ nextCheckAt: undefined }] });
  expect(JSON.parse(JSON.stringify(json))).toEqual({
    created_at: '2026-11-22T13:00:00.000Z',
    paid_at: null,
    attempts: [{ next_check_at: null }],
  });
});

it('each amount that has a currency is also written as money', () => {
  expect(toOperatorJson({ price: 95_000, currency: 'IDR', fee: undefined })).toEqual({
    price: 95_000,
    price_money: { amount: 95_000, currency: 'IDR' },
    currency: 'IDR',
    fee: null,
    fee_money: null,
  });
});

it('money stays as it is, and an amount without a currency too', () => {
  const value = { money: { amount: 5, currency: 'IDR' }, amount: 5 };
  expect(toOperatorJson(value)).toEqual(value);
});

it('former names of members are printed along with the present ones, except for members that were left out', () => {
  expect(toOperatorJson({ byKind: { isLate: true }, paidAt: undefined }, true)).toEqual({
    by_kind: { is_late: true, isLate: true },
    byKind: { is_late: true, isLate: true },
    paid_at: null,
  });
});

it('keys that are names of models, routes or people stay as they are', () => {
  const value = { models: { 'dp/Qwen-3': 1, 'openai/gpt-6': 2 }, countries: { ID: 3 } };
  expect(toOperatorJson(value, true)).toEqual(value);
});
