import { expect, it } from 'vitest';
import { isTimeZone } from '#core/platform/timing/time-zone.ts';

it.each(['Asia/Jakarta', 'asia/jakarta', 'Asia/Calcutta', 'UTC', 'GMT', 'Etc/GMT+7'])('%s is a time zone', (name) => {
  expect(isTimeZone(name)).toBe(true);
});

it.each(['+07:00', '-07', 'Asia/Atlantis', 'Jakarta', ''])('"%s" is no time zone', (name) => {
  expect(isTimeZone(name)).toBe(false);
});
