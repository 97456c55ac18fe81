import { describe, expect, it } from 'vitest';
import { getFormatter } from '#core/web/texts/formatter.ts';

const english = getFormatter('en', 'Asia/Jakarta');
const indonesian = getFormatter('id', 'Asia/Jakarta');
const time = new Date('2026-11-25T14:40:07Z');
/** No-break spaces as plain ones. */
const plain = (text: string) => text.replaceAll('\u00A0', ' ');

describe('times in the zone of the reader', () => {
  it.each([
    ['clock', '21:40:07', '21.40.07'],
    ['shortTime', '21:40', '21.40'],
    ['dayTime', 'Wed 25 Nov, 21:40', 'Rab 25 Nov, 21.40'],
    ['shortDay', 'Wed 25 Nov', 'Rab 25 Nov'],
  ] as const)('%s is %s, %s in Indonesian', (name, en, id) => {
    expect([english[name](time).text, indonesian[name](time).text]).toEqual([en, id]);
    expect(english[name](time).iso).toBe('2026-11-25T14:40:07.000Z');
  });

  it('dayTime has the year of a day that is far from now', () => {
    const dayTime = (now: string) => english.dayTime(time, new Date(now)).text;
    expect(dayTime('2026-12-25')).toBe('Wed 25 Nov, 21:40');
    expect(dayTime('2027-11-25')).toBe('Wed 25 Nov 2026, 21:40');
    expect(dayTime('2025-11-25')).toBe('Wed 25 Nov 2026, 21:40');
    expect(indonesian.dayTime(time, new Date('2027-11-25')).text).toBe('Rab 25 Nov 2026, 21.40');
  });

  it.each([
    [0, 'now', 'sekarang'],
    [-12 * 60, '12 min ago', '12 mnt lalu'],
    [-5 * 3600, '5 h ago', '5 jam lalu'],
    [-86_400, 'yesterday', 'kemarin'],
    [6 * 3600, 'in 6 h', 'dalam 6 jam'],
    [-8 * 86_400, '25 Nov 2026', '25 Nov 2026'],
  ])('%i s from now is %s, %s in Indonesian', (seconds, en, id) => {
    const now = new Date(time.getTime() - seconds * 1000);
    expect([english.relative(time, now).text, indonesian.relative(time, now).text]).toEqual([en, id]);
  });
});

describe('durations', () => {
  it.each([
    [-5, '0 ms', '0 ms'],
    [99.4, '99 ms', '99 ms'],
    [412, '0.41 s', '0,41 dtk'],
    [9_996, '10.0 s', '10,0 dtk'],
    [59_949, '59.9 s', '59,9 dtk'],
    [59_951, '1 min', '1 mnt'],
    [64_000, '1 min 4 s', '1 mnt 4 dtk'],
    [5_400_000, '1 h 30 min', '1 jam 30 mnt'],
  ])('%i ms is %s, %s in Indonesian', (ms, en, id) => {
    expect([plain(english.duration(ms).text), plain(indonesian.duration(ms).text)]).toEqual([en, id]);
  });

  it('have their unit apart', () => {
    expect(english.duration(710)).toMatchObject({ value: '0.71', unit: 's' });
  });

  it.each([
    [0, 412, '0 – 412 ms'],
    [412, 4280, '412 ms – 4.28 s'],
    [1200, 4280, '1.20 – 4.28 s'],
  ])('between %i and %i ms are shown as %s', (from, to, text) => {
    expect(plain(english.span(from, to))).toBe(text);
  });
});

describe('what is left', () => {
  it.each([
    [4 * 86_400_000 + 25_965_000, '4 d 07:12:45', '4 hari 07:12:45'],
    [59_001, '00:01:00', '00:01:00'],
    [1, '00:00:01', '00:00:01'],
    [0, '00:00:00', '00:00:00'],
    [-1, '00:00:00', '00:00:00'],
  ])('of %i ms is %s, %s in Indonesian', (ms, en, id) => {
    expect([english.remaining(ms).text, indonesian.remaining(ms).text]).toEqual([en, id]);
  });
});

describe('shares', () => {
  it.each([
    [0, '0%'],
    [0.000_01, '0.1%'],
    [0.014, '1.4%'],
    [0.41, '41.0%'],
    [0.9964, '99.6%'],
    [0.999_999, '99.9%'],
    [1, '100%'],
  ])('of %f are shown as %s', (share, text) => {
    expect(english.percent(share)).toBe(text);
  });

  it('have as many digits as asked for', () => {
    expect([0.5, 0.999_97, 0.000_01].map((share) => indonesian.percent(share, 2))).toEqual([
      '50,00%',
      '99,99%',
      '0,01%',
    ]);
  });
});

it.each([
  [999, '999 B'],
  [999_600, '1 MB'],
  [1_234_567, '1.2 MB'],
  [41e9, '41 GB'],
])('%i bytes are %s', (count, text) => {
  expect(plain(english.bytes(count).text)).toBe(text);
});
