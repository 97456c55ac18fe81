import { expect, it, vi } from 'vitest';
import type { OpenFlag } from '#core/business/payments/flags.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { findProblems } from '#core/web/problems/find-problems.ts';
import { describeFlag, moneyProblems } from '#core/web/problems/money-problems.ts';
import type { ProblemReader } from '#core/web/problems/problem.ts';
import { ownTexts, coreTexts } from '#core/web/serving/own-parts.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { Translator } from '#core/web/texts/translator.ts';

const now = Date.parse('2031-05-12T12:00:00Z');
const texts = new Translator([ownTexts, ...coreTexts]);
const order = {
  id: 'id',
  code: 'ORD-7F3K2MQX',
  accountId: 'account',
  buyer: 'ani@example.com',
  days: 7,
  price: 95_000,
  currency: 'IDR',
};

function sentenceOf(language: 'en' | 'id', flag: Pick<OpenFlag, 'kind' | 'money'> & Partial<OpenFlag>): string {
  const reader = { t: texts.in(language), format: getFormatter(language, 'UTC') };
  const whole = { id: 'flag', subject: '', createdAt: new Date(now), order, ...flag };
  const { pieces } = describeFlag(whole, reader);
  return pieces.map(({ text }) => text.replaceAll('\u00a0', ' ')).join('');
}

const money = (kind: 'payment' | 'refund', amount: number, statedAmount?: number) => {
  return { kind, amount, currency: 'IDR', statedAmount };
};

it.each([
  ['a payment that only this gateway has', 'not_at_provider', money('payment', 95_000), /does not list Rp 95\.000$/],
  [
    'a refund that only this gateway has',
    'not_at_provider',
    money('refund', 95_000),
    /not list the refund of Rp 95\.000$/,
  ],
  [
    'another amount',
    'not_at_provider',
    money('payment', 95_000, 94_000),
    /Rp 95\.000 on record here, Rp 94\.000 at the/,
  ],
  ['a payment that only the provider has', 'not_in_books', money('payment', 12_345), /lists Rp 12\.345 that is not/],
  ['a refund that only the provider has', 'not_in_books', money('refund', 30_000), /lists a refund of Rp 30\.000 that/],
] as const)('%s reads as such on the overview', (_, kind, of, sentence) => {
  expect(sentenceOf('en', { kind, money: of })).toMatch(sentence);
});

it('a buyer who has deleted the account is called so in the language of the reader', () => {
  const gone = { ...order, buyer: 'Deleted account' };
  expect(sentenceOf('id', { kind: 'deleted_account', money: money('payment', 95_000), order: gone })).toMatch(
    /^Pesanan ORD-7F3K2MQX, Akun yang dihapus/,
  );
});

it('a refund without an order says so in Indonesian too', () => {
  const sentence = sentenceOf('id', { kind: 'not_in_books', money: money('refund', 30_000), order: undefined });
  expect(sentence).toMatch(/: penyedia mencatat refund Rp 30\.000 yang tidak ada di sini$/);
});

/** What is said of the oldest reported payment that is not confirmed. */
async function unconfirmedFor(minutes: number, language: 'en' | 'id') {
  const database = { query: async () => [{ at: now - minutes * 60_000 }] };
  const host = Object.assign(createTestHost({ now }), { database });
  const reader = { host, t: texts.in(language), format: getFormatter(language, 'UTC'), language };
  return moneyProblems[0]?.find(reader as unknown as ProblemReader);
}

it('a reported payment is a problem once it has not been confirmed for ten minutes, in words of both languages', async () => {
  expect(await unconfirmedFor(10, 'en')).toEqual([]);
  expect(await unconfirmedFor(11, 'en')).toMatchObject([
    {
      severity: 'bad',
      title: 'Payments unconfirmed',
      pieces: [{ text: expect.stringContaining('Buyers wait for their days.') }],
      since: new Date(now - 660_000),
    },
  ]);
  const [told] = (await unconfirmedFor(11, 'id')) ?? [];
  expect(told?.pieces[0]?.text).not.toMatch(/^problem\.|Buyers/);
});

it('flags that are more than are listed are counted by the statement that lists them, after the precondition', async () => {
  const row = { id: 'flag', kind: 'wrong_amount', created_at: now, order_id: null, amount: null, total: 12 };
  const query = vi.fn(async () => [row]);
  const host = Object.assign(createTestHost({ now }), { database: { query } });
  const reader = { host, t: texts.in('en'), format: getFormatter('en', 'UTC'), language: 'en' };
  const flagged = moneyProblems.filter(({ name }) => name === 'order_flagged');
  const { problems: found, total } = await findProblems(
    { problems: new Map(flagged.map((kind) => [kind.name, kind])) },
    reader as unknown as ProblemReader,
  );
  expect([found.length, total, query.mock.calls.length]).toEqual([1, 12, 2]);
});
