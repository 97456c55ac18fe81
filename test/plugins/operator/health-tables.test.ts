import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { ownTexts, coreTexts } from '#core/web/serving/own-parts.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { describeFailedJobs, describeUnauthenticated } from '../../../plugins/operator/health/tables.ts';
import en from '../../../plugins/operator/texts/en.json' with { type: 'json' };
import id from '../../../plugins/operator/texts/id.json' with { type: 'json' };

const now = Date.parse('2031-05-12T12:00:00Z');
const reader = {
  t: new Translator([ownTexts, ...coreTexts, defineTexts({ en, id })]).in('en'),
  language: 'en' as const,
  format: getFormatter('en', 'UTC'),
  host: createTestHost({ now }),
};

it('the table of failed jobs says when it does not list all of them', () => {
  const failed = Array.from({ length: 31 }, () => ({ name: 'send-mails', reason: 'no server', failedAt: now }));
  const { rows, note } = describeFailedJobs(reader, failed);
  expect([rows.length, note]).toEqual([30, 'Only the newest 30 are listed.']);
  expect(describeFailedJobs(reader, failed.slice(1)).note).toBe(undefined);
});

it('the table of requests without an account says when it does not list all addresses', () => {
  const blocks = Array.from({ length: 10 }, (_, index) => {
    return { block: `192.0.2.${index}`, requests: 20 - index, lastMinute: now, statuses: [] };
  });
  expect(describeUnauthenticated(reader, blocks).note).toBe('Only the 10 with the most requests are listed.');
  expect(describeUnauthenticated(reader, blocks.slice(1)).note).toBe(undefined);
});
