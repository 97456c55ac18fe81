import { describe, expect, it } from 'vitest';
import { ownTexts, coreTexts } from '#core/web/serving/own-parts.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { defineTexts, type Language, languages } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { describeWait } from '../../../plugins/sales/notices.ts';
import { placeKinds } from '../../../plugins/sales/sales-figures.ts';
import en from '../../../plugins/sales/texts/en.json' with { type: 'json' };
import id from '../../../plugins/sales/texts/id.json' with { type: 'json' };
import { describeWaitEvents } from '../../../plugins/sales/timeline.ts';

const translator = new Translator([ownTexts, ...coreTexts, defineTexts({ en, id })]);
const now = Date.UTC(2026, 10, 22, 2, 30);
const hour = 3_600_000;
const ago = (hours: number) => new Date(now - hours * hour);
const reader = (language: Language = 'en') => ({
  t: translator.in(language),
  format: getFormatter(language, 'Asia/Jakarta'),
});

describe('the home page of one who waits', () => {
  const wait = { position: 3, reservedUntil: undefined };

  it('has the number of the account, in both languages', () => {
    expect(describeWait(wait, '/buy?days=7', reader())).toMatchObject({
      title: 'You are number 3 on the waiting list.',
      action: { path: '/buy?days=7' },
    });
    expect(describeWait(wait, '', reader('id')).title).toBe('Kamu nomor 3 di daftar tunggu.');
  });

  it('has the reserved place instead, with its end and the way to order it', () => {
    const reserved = { reservedUntil: new Date(now + 24 * hour), position: 0 };
    expect(describeWait(reserved, '/buy?days=7', reader())).toMatchObject({
      title: expect.stringMatching(/^A place is reserved for you until 23 Nov 2026, 09:30/),
      action: { path: '/buy?days=7', label: 'Choose a plan' },
    });
  });
});

it('operators see when an account joined the waiting list, and when it got a place', () => {
  const wait = { days: 30, joinedAt: ago(3), reservedAt: ago(2), reservedUntil: ago(1) };
  const told = describeWaitEvents(wait, reader()).map(({ icon, title, text }) => [icon, title, text].join(' | '));
  expect(told).toEqual([
    'waiting | Joined the waiting list | 30 days',
    expect.stringMatching(/^ok \| Place reserved \| 30 days · Reserved until /),
  ]);
  expect(describeWaitEvents({ ...wait, reservedAt: undefined, reservedUntil: undefined }, reader())).toHaveLength(1);
});

it.each(languages)('each reason for which a place is held has a name: %s', (language) => {
  const { t } = reader(language);
  for (const kind of placeKinds) expect(t(`operator.sales_kind.${kind}`, { count: 2 })).toMatch(/^2 /);
});
