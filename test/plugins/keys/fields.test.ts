import { describe, expect, it } from 'vitest';
import type { AccountRecord, PeriodRecord } from '#core/business/accounts/account-record.ts';
import { renderFields } from '../../../plugins/keys/show.ts';

const day = 86_400_000;
const now = Date.parse('2026-11-30T00:00:00Z');

/** @param days start and end, in days from now */
function planWith(...days: readonly (readonly [start: number, end: number])[]): string | undefined {
  const periods: PeriodRecord[] = days.map(([start, end]) => ({
    startsAt: new Date(now + start * day),
    endsAt: new Date(now + end * day),
    label: 'trial',
    limits: undefined,
  }));
  const record: AccountRecord = {
    id: 'a',
    name: 'Ani',
    email: undefined,
    createdAt: new Date(now),
    blockedAt: undefined,
    pausedAt: undefined,
    deletedAt: undefined,
    requestCount: 0,
    key: undefined,
    periods,
    readAt: now,
  };
  return renderFields({ record })
    .find((line) => line.startsWith('plan'))
    ?.slice(10);
}

describe('the plan of an account', () => {
  it('with a period that has yet to start says when it starts and ends', () => {
    expect(planWith([1, 8])).toBe('starts at 2026-12-01T00:00:00.000Z, ends at 2026-12-08T00:00:00.000Z');
  });

  it('is active until the end of adjacent periods', () => {
    expect(planWith([-1, 1], [1, 8], [9, 10])).toBe('trial, active until 2026-12-08T00:00:00.000Z');
  });

  it('has ended with its last period', () => {
    expect(planWith([-3, -1])).toBe('ended at 2026-11-29T00:00:00.000Z');
  });

  it('is none without periods', () => {
    expect(planWith()).toBe('none yet');
  });
});
