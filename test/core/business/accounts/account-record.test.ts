import { describe, expect, it } from 'vitest';
import { type AccountRecord, findActivePeriod } from '#core/business/accounts/account-record.ts';

const day = 86_400_000;

/** An account with these periods, in days since 1970. */
function accountWith(...periods: readonly (readonly [from: number, to: number])[]): AccountRecord {
  const record = periods.map(([from, to]) => ({
    startsAt: new Date(from * day),
    endsAt: new Date(to * day),
    days: to - from,
    label: `from ${from}`,
  }));
  return { periods: record } as unknown as AccountRecord;
}

const activeAt = (account: AccountRecord, at: number) => {
  const period = findActivePeriod(account, at * day);
  return period && [period.label, period.endsAt.getTime() / day];
};

describe('the active period', () => {
  it('ends with the last of those that follow each other', () => {
    expect(activeAt(accountWith([0, 10], [10, 20], [20, 50]), 5)).toEqual(['from 0', 50]);
  });

  it('ends before a gap, whatever comes after it', () => {
    expect(activeAt(accountWith([0, 10], [10, 20], [30, 40], [20, 60]), 5)).toEqual(['from 0', 20]);
  });

  it('is not shortened by one that lies within it', () => {
    expect(activeAt(accountWith([0, 30], [5, 8], [30, 40]), 1)).toEqual(['from 0', 40]);
  });

  it('is the one that contains the time: from its beginning, up to its end', () => {
    const account = accountWith([0, 10], [20, 30]);
    expect([0, 9.99, 10, 15, 20].map((at) => activeAt(account, at)?.[0])).toEqual([
      'from 0',
      'from 0',
      undefined,
      undefined,
      'from 20',
    ]);
  });
});
