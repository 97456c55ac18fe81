import { expect, it } from 'vitest';
import { type Section, listSectionNotices } from '#core/config/section.ts';
import { models } from '#core/config/sections/models-section.ts';
import { probesSection } from '../../../plugins/probes/section.ts';

const catalog = { m: { max_input_tokens: 128_000, routes: ['a/b'] } };
const noticesOf = (probes: object) => {
  const values = new Map<Section, unknown>([
    [probesSection, { every_hours: 240, context_every_days: 7, ...probes }],
    [models, catalog],
  ]);
  return listSectionNotices([probesSection], { get: (section) => values.get(section) as never });
};

it('a window that probes cannot fill, and a day on which none comes, are noted', () => {
  expect(noticesOf({ enabled: true, daily_tokens: 50_000 }).join(' ')).toMatch(
    /context_every_days is 7.*every 240 hours.*daily_tokens is 50000.*for: m$/,
  );
});

it('probes that are off have no notices', () => {
  expect(noticesOf({ enabled: false, daily_tokens: 1_000 })).toEqual([]);
});
