import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDay, parseTime, parseTimeZone, resolveTime } from '#core/extension/commands/days.ts';
import type { Database } from '#core/platform/database/database.ts';
import { dayRangeToTimes } from '#core/platform/database/day-range.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';
import { createTestDatabase } from '../../../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('the days of a time zone', () => {
  it('begin and end at midnight there', async () => {
    expect(await dayRangeToTimes(database, 'Asia/Jakarta', '2026-11-22', '2026-11-22')).toEqual({
      since: new Date('2026-11-21T17:00:00Z'),
      until: new Date('2026-11-22T17:00:00Z'),
    });
  });

  it('have 23 hours where summer time begins', async () => {
    expect(await dayRangeToTimes(database, 'Europe/Berlin', '2026-03-29', '2026-03-29')).toEqual({
      since: new Date('2026-03-28T23:00:00Z'),
      until: new Date('2026-03-29T22:00:00Z'),
    });
  });

  it('may be open at both ends', async () => {
    expect(await dayRangeToTimes(database, 'UTC', undefined, undefined)).toEqual({
      since: undefined,
      until: undefined,
    });
  });
});

describe('a time', () => {
  it('is written as the day and the clock of its zone', () => {
    expect(formatLocalTime(new Date('2026-11-21T17:00:00Z'), 'Asia/Jakarta')).toEqual({
      day: '2026-11-22',
      clock: '00:00:00',
    });
  });
});

const now = () => Date.parse('2026-11-22T12:00:00Z');

const resolve = async (text: string, zone = 'Asia/Jakarta') =>
  new Date(await resolveTime({ database, now }, parseTime(text), zone)).toISOString().slice(0, 16);

describe('a time on the command line', () => {
  it.each([
    ['24h', '2026-11-21T12:00'],
    ['2026-11-22', '2026-11-21T17:00'],
    ['2026-11-22 20:14', '2026-11-22T13:14'],
    ['2026-11-22T13:00Z', '2026-11-22T13:00'],
    ['2026-11-22T20:00+07:00', '2026-11-22T13:00'],
  ])('"%s" in Jakarta is %s', async (text, time) => {
    expect(await resolve(text)).toBe(time);
  });

  it('is of the zone that the command prints', async () => {
    expect(await resolve('2026-11-22 20:14', 'UTC')).toBe('2026-11-22T20:14');
  });

  it.each(['2026-11-22 24:00', '2026-02-30 10:00', '2026-11-22 9:00', '20:14', 'yesterday', ''])(
    '"%s" is refused',
    (text) => {
      expect(() => parseTime(text)).toThrow('It must be a time');
    },
  );
});

describe('on the command line', () => {
  it.each(['2026-02-30', '22-11-2026', 'today', '2026-1-1'])('%s is not a day', (text) => {
    expect(() => parseDay(text)).toThrow('It must be a day');
  });

  it.each(['Jakarta', 'Asia/Nowhere', '+07:00', '-05:00', '+0700', ''])('"%s" is not a time zone', (text) => {
    expect(() => parseTimeZone(text)).toThrow('It must be the name of a time zone');
  });
});
