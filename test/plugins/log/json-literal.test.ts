import { expect, it } from 'vitest';
import { toJsonLiteral } from '../../../plugins/log/json-literal.ts';

it.each([
  ['the last control character', '\u009f', String.raw`"\\x9f"`],
  ['the first character after them', '\u00a0', String.raw`"\u00a0"`],
  ['the last character without an escape', '~', '"~"'],
  ['the first control character after it', '\u007f', String.raw`"\\x7f"`],
])('%s is written in the shortest visible way', (_, text, expected) => {
  expect(toJsonLiteral(text, 10)).toBe(expected);
});
