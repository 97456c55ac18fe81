import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDay, parseTimeZone, rangeOfDays } from '#core/extension/commands/days.ts';
import { localTime } from '#core/platform/timing/time-zone.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('the days of a time zone', () => {
  it('begin and end at midnight there', async () => {
    expect(await rangeOfDays(database, 'Asia/Jakarta', '2026-11-22', '2026-11-22')).toEqual({
      since: new Date('2026-11-21T17:00:00Z'),
      until: new Date('2026-11-22T17:00:00Z'),
    });
  });

  it('have 23 hours where summer time begins', async () => {
    expect(await rangeOfDays(database, 'Europe/Berlin', '2026-03-29', '2026-03-29')).toEqual({
      since: new Date('2026-03-28T23:00:00Z'),
      until: new Date('2026-03-29T22:00:00Z'),
    });
  });

  it('may be open at both ends', async () => {
    expect(await rangeOfDays(database, 'UTC', undefined, undefined)).toEqual({ since: undefined, until: undefined });
  });
});

describe('a time', () => {
  it('is written as the day and the clock of its zone', () => {
    expect(localTime(new Date('2026-11-21T17:00:00Z'), 'Asia/Jakarta')).toEqual({
      day: '2026-11-22',
      clock: '00:00:00',
    });
  });
});

describe('on the command line', () => {
  it.each(['2026-02-30', '22-11-2026', 'today', '2026-1-1'])('%s is not a day', (text) => {
    expect(() => parseDay(text)).toThrow('It must be a day');
  });

  it.each(['Jakarta', 'Asia/Nowhere', ''])('"%s" is not a time zone', (text) => {
    expect(() => parseTimeZone(text)).toThrow('It must be the name of a time zone');
  });
});
