import { expect, test } from 'vitest';
import { toRecord } from '#core/platform/database/rows.ts';

test('a column is read under its name in code', () => {
  expect(toRecord({ id: 'a', first_content_ms: 12 })).toEqual({ id: 'a', firstContentMs: 12 });
});

test('null is undefined, other empty values stay', () => {
  expect(toRecord({ label: null, paid_at: null, name: '', days: 0, is_late: false })).toEqual({
    label: undefined,
    paidAt: undefined,
    name: '',
    days: 0,
    isLate: false,
  });
});

test('only epoch milliseconds under the name of a time become dates', () => {
  expect(toRecord({ created_at: 1_000, reserved_until: 0, at_text: '2026', price: 1_000 })).toEqual({
    createdAt: new Date(1_000),
    reservedUntil: new Date(0),
    atText: '2026',
    price: 1_000,
  });
});
