import { expect, it } from 'vitest';
import type { CustomerMail } from '#core/business/mail/mails.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { createProblemReader, describeProblems } from '#core/web/problems/find-problems.ts';
import { describeEntryFacts } from '#core/web/resources/field.ts';
import { mails } from '#core/web/resources/mails.ts';
import { ownTexts, coreTexts } from '#core/web/serving/own-parts.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { undeliveredMails } from '../../../plugins/mail/operator/problems.ts';

const pageTexts = [ownTexts, ...coreTexts];
const words = '550 5.1.1 <ani@example.com> user unknown';
const at = Date.parse('2031-05-12T12:00:00Z');
const row = {
  id: '7',
  event: 'order.paid',
  account_id: 'account',
  order_id: 'order',
  order: 'ORD-1',
  state: 'failed',
  tries: 1,
  error: words,
  created_at: at,
  next_at: at,
  finished_at: at,
};
const database = {
  query: async (sql: string) => (sql.includes('count(*)') ? [{ money: 1, others: 0 }] : [row]),
};

it("an operator reads a mail server's words about a lost receipt, and programs do not: they may have the address", async () => {
  await using plain = createTestHost({ now: at });
  const host = Object.assign(plain, { database }) as unknown as typeof plain;
  const [problem] = await undeliveredMails.find(createProblemReader(pageTexts, host, 'en'));
  expect(problem?.pieces.map(({ text }) => text).join('')).toContain(words);
  const told = await describeProblems({ pageTexts, problems: new Map([['mail', undeliveredMails]]) }, host);
  expect(told).toMatchObject([{ problem: 'mail', severity: 'bad', subject: 'ORD-1' }]);
  expect(JSON.stringify(told)).not.toContain('ani@example.com');
});

it('a lost mail of a capability that is gone is named by its event', async () => {
  await using plain = createTestHost({ now: at });
  const gone = {
    query: async (sql: string) =>
      sql.includes('count(*)') ? [{ money: 1, others: 0 }] : [{ ...row, event: 'gift.opened' }],
  };
  const host = Object.assign(plain, { database: gone }) as unknown as typeof plain;
  const reader = createProblemReader(pageTexts, host, 'en');
  const [problem] = await undeliveredMails.find(reader);
  expect(problem?.pieces.map(({ text }) => text).join('')).toContain(', gift.opened: ');
  expect(problem?.step?.label).not.toContain('operator.mail.');
  const { page } = mails.view;
  const about = page.filter(({ name }) => name === 'about');
  const told = { ...reader, language: 'en' as const, format: getFormatter('en', 'UTC') };
  expect(describeEntryFacts(told, { event: 'gift.opened' } as unknown as CustomerMail, about)).toMatchObject([
    { value: 'gift.opened' },
  ]);
});
