import { expect, it } from 'vitest';
import { literal } from '../../../plugins/log/text.ts';

it.each([
  ['the last control character', '\u009f', String.raw`"\\x9f"`],
  ['the first character after them', '\u00a0', String.raw`"\u00a0"`],
  ['the last character without an escape', '~', '"~"'],
  ['the first control character after it', '\u007f', String.raw`"\\x7f"`],
])('%s is written in the shortest visible way', (_, text, expected) => {
  expect(literal(text, 10)).toBe(expected);
});
