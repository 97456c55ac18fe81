import { expect, it } from 'vitest';
import { JsonCursor, visitNumbers, unescapeString } from '#core/platform/json-scan.ts';

it('a cursor enters a member of the outermost object, not one inside of it or of a string', () => {
  const cursor = new JsonCursor(String.raw`{"a":"\"model\":\"x\"","b":{"model":"y"}, "model" : "z"}`);
  expect(cursor.enterMember('model')?.name).toBe('model');
  expect(cursor.readValue()).toBe('"z"');
});

it('a cursor enters a member of a member', () => {
  const cursor = new JsonCursor('{"model":"x","response":{"tools":[{"model":"y"}],"model":"z"}}');
  expect(cursor.enterMember('response') && cursor.enterMember('model')).toBeDefined();
  expect(cursor.readValue()).toBe('"z"');
});

it.each(['[]', '{"a":1}', '"model"', '', '{"a":1 "model":2}', '{"a":[1,"model":2}'])(
  'a cursor enters no member in %s, and fails from then on',
  (text) => {
    const cursor = new JsonCursor(text);
    expect(cursor.enterMember('model')).toBeUndefined();
    expect(cursor.readValue()).toBeUndefined();
  },
);

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
