import { expect, it } from 'vitest';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { describeCredits } from '../../../plugins/outages/notices.ts';
import en from '../../../plugins/outages/texts/en.json' with { type: 'json' };
import id from '../../../plugins/outages/texts/id.json' with { type: 'json' };

const reader = {
  t: new Translator([defineTexts({ en, id })]).in('en'),
  format: getFormatter('en', 'Asia/Jakarta'),
};
const at = new Date(Date.UTC(2026, 10, 22, 2, 30));

const credit = (model: string, seconds: number) => ({
  model,
  fromAt: at,
  seconds,
});

it.each([
  [20, '+ 1 minute: dp/gpt-6-sol was down on'],
  [23 * 60, '+ 23 minutes: dp/gpt-6-sol was down on'],
  [3600, '+ 1 hour: dp/gpt-6-sol was down on'],
  [312 * 60, '+ 5 hours 12 minutes: dp/gpt-6-sol was down on'],
])('credited time reads in hours and minutes: %i s', (seconds, text) => {
  expect(describeCredits([credit('dp/gpt-6-sol', seconds)], reader)?.title).toContain(text);
});

it('several outages share one note: their total time, and the newest of them', () => {
  const credits = ['a', 'b', 'c', 'd', 'e'].map((model) => credit(model, 1800));
  const told = describeCredits(credits, reader);
  expect(told?.title).toBe('+ 2 hours 30 minutes for outages');
  expect(told?.text).toMatch(/^a on .* · b on .* · c on .* · and 2 more$/);
  expect(describeCredits([], reader)).toBeUndefined();
});
