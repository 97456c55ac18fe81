import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { problemReader, tellProblems } from '#core/web/problems/find-problems.ts';
import { ownTexts, reasonTexts } from '#core/web/serving/own-parts.ts';
import { undeliveredMails } from '../../../plugins/operator/overview/mail-problems.ts';

const pageTexts = [ownTexts, ...reasonTexts];
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
  const [problem] = await undeliveredMails.find(problemReader(pageTexts, host, 'en'));
  expect(problem?.pieces.map(({ text }) => text).join('')).toContain(words);
  const told = await tellProblems({ pageTexts, problems: new Map([['mail', undeliveredMails]]) }, host);
  expect(told).toMatchObject([{ problem: 'mail', severity: 'bad', subject: 'ORD-1' }]);
  expect(JSON.stringify(told)).not.toContain('ani@example.com');
});
