import { expect, it } from 'vitest';
import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { formatEntry } from '#core/extension/commands/field-text.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import { type AccountDetails, accountFacts } from '#core/web/resources/account-details.ts';
import { describeEntryFacts } from '#core/web/resources/field.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';

const now = Date.UTC(2026, 10, 29, 8);
const day = 86_400_000;
const reader = {
  t: (key: string, values: object = {}) => `<${[key, ...Object.values(values)].join(' ')}>`,
  language: 'en' as const,
  format: getFormatter('en', 'Asia/Jakarta'),
  host: createTestHost({ now }),
};

const fields = accountFacts.text.filter(({ name }) => name === 'plan');

/** The plan of an account with periods, in days from now: on its page, and as printed. */
function planOf(...periods: readonly (readonly [start: number, end: number])[]) {
  const dated = periods.map(([start, end]) => ({
    startsAt: new Date(now + start * day),
    endsAt: new Date(now + end * day),
    days: end - start,
    label: 'trial',
  }));
  const record = { readAt: now, createdAt: new Date(now), periods: dated } as unknown as AccountRecord;
  const details = { record } as AccountDetails;
  const facts = describeEntryFacts(reader, details, fields);
  const printed = formatEntry(details, fields, { timeZone: 'UTC', now }, []);
  return [facts.map(({ value }) => value).join(), printed.join().replace(/^plan:? +/, '')];
}

it.each([
  [
    'starts later',
    planOf([1, 8]),
    '<operator.plan_later 30 Nov 2026, 15:00 WIB>',
    'starts at 2026-11-30 08:00, ends at 2026-12-07 08:00',
  ],
  ['is active', planOf([-1, 1], [3, 8]), '<operator.days 2>, trial', 'trial, active until 2026-11-30 08:00'],
  ['has ended', planOf([-3, -1]), '<operator.plan_over>', 'ended at 2026-11-28 08:00'],
  ['was never bought', planOf(), '<operator.plan_none>', 'none yet'],
])('a plan that %s is described alike on the page and in a terminal', (_state, described, onPage, printed) => {
  expect(described).toEqual([onPage, printed]);
});
