import { expect, it } from 'vitest';
import { respondWithTokenEstimate } from '../../../../plugins/format/request/count-tokens.ts';
import { requestOf } from '../invariants/fixture.ts';

const words = 'Numbers of tokens grow with the words of a prompt. ';

const tokensOf = (texts: readonly string[]): number => {
  const messages = texts.map((content) => ({ role: 'user', content }));
  const { body } = respondWithTokenEstimate(requestOf('messages', { model: 'test', max_tokens: 9, messages }));
  return (JSON.parse(String(body)) as { input_tokens: number }).input_tokens;
};

it('a prompt too long to be tokenized is counted like one that is tokenized', () => {
  const read = tokensOf([words.repeat(1_000)]);
  const tooLong = tokensOf([words.repeat(100_000)]);
  expect(tooLong / read).toBeGreaterThan(98);
  expect(tooLong / read).toBeLessThan(102);
});

it('many texts count as much as one text of the same length', () => {
  const one = tokensOf([words.repeat(20_000)]);
  const many = tokensOf(Array.from({ length: 200 }, () => words.repeat(100)));
  // Each message adds a few tokens of its own.
  expect(many / one).toBeGreaterThan(0.98);
  expect(many / one).toBeLessThan(1.05);
});

it('counting a prompt of 30 MB takes milliseconds', () => {
  const texts = [words.repeat(600_000)];
  const before = process.threadCpuUsage();
  tokensOf(texts);
  const { user, system } = process.threadCpuUsage(before);
  // Reading all of it takes more than two seconds.
  expect((user + system) / 1_000).toBeLessThan(500);
});
