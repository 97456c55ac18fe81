import { expect, it } from 'vitest';
import { findMember, visitNumbers, unescapeString } from '#core/platform/json-scan.ts';

it('a scan finds a member of the outermost object, not one inside of it or of a string', () => {
  const text = String.raw`{"a":"\"model\":\"x\"","b":{"model":"y"}, "model" : "z"}`;
  const found = findMember(text, 'model');
  expect(found && text.slice(found.start, found.end)).toBe('"z"');
});

it.each(['[]', '{"a":1}', '"model"', ''])('a scan finds no member in %s', (text) => {
  expect(findMember(text, 'model')).toBeUndefined();
});

it('a scan visits long numbers outside of strings only', () => {
  const text = '{"a":"1234567890123456","b":[1234567890123456,12,-1.5e+100000000001,true]}';
  const numbers: string[] = [];
  visitNumbers(text, 16, (begin, end) => numbers.push(text.slice(begin, end)));
  expect(numbers).toEqual(['1234567890123456', '-1.5e+100000000001']);
});

it.each([
  [String.raw`a\nb`, 'a\nb'],
  ['plain', 'plain'],
  [String.raw`cut\u12`, String.raw`cut\u12`],
])('reads the inside of a string, %j, as %j', (literal, text) => {
  expect(unescapeString(literal)).toBe(text);
});
