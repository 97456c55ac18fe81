import { describe, expect, it } from 'vitest';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { Translator } from '#core/web/texts/translator.ts';

const translator = new Translator([
  {
    en: { greet: 'Hello {name}', days: { one: '{count} day', other: '{count} days' }, sum: 'All {value}' },
    id: { greet: 'Halo {name}', days: { other: '{count} hari' }, sum: 'Semua {value}' },
  },
]);

describe('a text', () => {
  it.each([
    ['en', 'Hello <b>'],
    ['id', 'Halo <b>'],
  ] as const)('contains its values in %s: %s', (language, text) => {
    expect(translator.in(language)('greet', { name: '<b>' })).toBe(text);
  });

  it.each([
    ['en', 1, '1 day'],
    ['en', 0, '0 days'],
    ['en', 1284, '1,284 days'],
    ['id', 1, '1 hari'],
    ['id', 1284, '1.284 hari'],
  ] as const)('is, in %s and for the count %i, %s', (language, count, text) => {
    expect(translator.in(language)('days', { count })).toBe(text);
  });

  it('keeps the name of a value that is missing, and takes none from the prototype', () => {
    expect(translator.in('en')('greet')).toBe('Hello {name}');
  });

  it('that does not exist is shown as its key', () => {
    expect(translator.in('id')('nothing.here')).toBe('nothing.here');
  });
});

it.each([
  ['lacks a language', [{ en: { a: 'A' }, id: {} }], 'text "a" has no translation in "id"'],
  ['stands only in the other language', [{ en: {}, id: { a: 'A' } }], 'text "a" has no translation in "en"'],
  [
    'is registered by two plugins',
    [
      { en: { a: 'A' }, id: { a: 'A' } },
      { en: { a: 'B' }, id: { a: 'B' } },
    ],
    'text "a" is registered twice',
  ],
])('a text that %s is refused at the start', (_why, sources, message) => {
  expect(() => new Translator(sources)).toThrow(message);
});

it('zones of one meaning share a formatter', () => {
  expect(getFormatter('en', 'asia/JAKARTA')).toBe(getFormatter('en', 'Asia/Jakarta'));
});

describe('values for a reader', () => {
  const moment = new Date('2026-11-25T14:40:00Z');

  it.each([
    ['en', 'Asia/Jakarta', '25 Nov 2026, 21:40 WIB', '25 Nov 2026', '1,284'],
    ['en', 'Asia/Makassar', '25 Nov 2026, 22:40 WITA', '25 Nov 2026', '1,284'],
    ['en', 'Asia/Jayapura', '25 Nov 2026, 23:40 WIT', '25 Nov 2026', '1,284'],
    ['en', 'Asia/Bangkok', '25 Nov 2026, 21:40 GMT+7', '25 Nov 2026', '1,284'],
    ['id', 'Asia/Jakarta', '25 Nov 2026, 21.40 WIB', '25 Nov 2026', '1.284'],
    ['en', 'America/New_York', '25 Nov 2026, 09:40 GMT-5', '25 Nov 2026', '1,284'],
    ['en', 'Pacific/Kiritimati', '26 Nov 2026, 04:40 GMT+14', '26 Nov 2026', '1,284'],
  ] as const)('are formatted for the language %s and the time zone %s', (language, zone, time, day, number) => {
    const format = getFormatter(language, zone);
    expect([format.time(moment).text, format.day(moment).text, format.number(1284)]).toEqual([time, day, number]);
    expect(format.time(moment).iso).toBe('2026-11-25T14:40:00.000Z');
    expect(format.money(95_000, 'IDR')).toBe('Rp\u00a095.000');
  });

  it.each([undefined, '', '+07:00', 'Nowhere/Else', '../etc', 'x'.repeat(10_000)])(
    'use the time zone of the service if theirs is invalid: %s',
    (zone) => {
      expect(getFormatter('en', zone).timeZone).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone);
    },
  );
});
