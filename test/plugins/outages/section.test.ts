import { expect, it } from 'vitest';
import { listSectionNotices } from '#core/config/section.ts';
import { outagesSection } from '../../../plugins/outages/section.ts';

it.each([
  [true, [expect.stringMatching(/from_minutes is 60/)]],
  [false, []],
])('outages longer than what is given back are noted while credit is %s', (credit, notices) => {
  const value = { credit, from_minutes: 60, max_minutes_per_day: 30, mail: false };
  expect(listSectionNotices([outagesSection], { get: () => value as never })).toEqual(notices);
});
