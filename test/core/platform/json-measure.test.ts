import { describe, expect, it } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { findExcess } from '#core/platform/json-measure.ts';

const values = bounds.requestValues;
/** A body with so many entries of a list; a long text makes sure that it is measured. */
const listOf = (count: number, entry: (index: number) => string) =>
  `{"padding":"${' '.repeat(140_000)}","list":[${Array.from({ length: count }, (_, index) => entry(index)).join(',')}]}`;
const message = (index: number) =>
  `{"role":"user","content":[{"type":"text","text":"${index} says \\"hi, [you]\\": {}\\\\"}]}`;
const excessOf = (text: string) => findExcess(text, values);

describe('a JSON text that takes long to read', () => {
  it.each([
    ['numbers', () => '1', `more than ${values} values`],
    ['empty lists', () => '[]', `more than ${values} values`],
    ['empty texts', () => '""', `more than ${values} values`],
    ['objects', () => '{"a":1}', `more than ${values} values`],
  ])('has too many %s', (_name, entry, excess) => {
    expect(excessOf(listOf(values + 1, entry))).toBe(excess);
  });

  it.each([
    ['members of one object', `{${Array.from({ length: 13_000 }, (_, index) => `"name-${index}":1`).join(',')}}`],
    ['objects of different members', listOf(13_000, (index) => `{"name-${index}":1}`)],
    ['orders of the same members', listOf(20_000, (index) => `{"${index % 147}x":1,"${index % 149}y":1}`)],
    ['long names', listOf(10_001, () => `{"${'n'.repeat(100)}":1}`)],
  ])('has too many %s', (_name, text) => {
    expect(excessOf(text)).toBe(`more than ${bounds.jsonShapes} different members`);
  });

  it.each(['\\n', '\\"', '\\\\', '\\u8a9e'])('has too many %s', (escape) => {
    expect(excessOf(`{"text":"${escape.repeat(bounds.jsonEscapes + 1)}"}`)).toBe(
      `more than ${bounds.jsonEscapes} escaped characters`,
    );
  });

  it('has too much white space', () => {
    expect(excessOf(`{"a":1${' '.repeat(bounds.jsonOutsideStrings)}}`)).toBe(
      `more than ${bounds.jsonOutsideStrings} bytes outside of strings`,
    );
  });
});

describe('a JSON text that can be read', () => {
  it.each([
    ['a long conversation', listOf(12_000, message)],
    ['as many values as there may be', listOf(values - 3, () => '1')],
    ['one large image', `{"image":"${'QUJD'.repeat(8_000_000)}"}`],
    ['punctuation inside of strings', `{"text":"${'{[,:'.repeat(1_000_000)}"}`],
    ['as many escapes as there may be', `{"text":"${'\\"'.repeat(bounds.jsonEscapes)}"}`],
    ['a string that is not closed', `{"text":"${'a'.repeat(2_000_000)}`],
    ['more closings than openings', `${']'.repeat(100_000)}`],
    ['objects deeper than any body may have them', `${'{"a":'.repeat(9_000)}1${' '.repeat(140_000)}`],
  ])('has %s', (_name, text) => {
    expect(excessOf(text)).toBeUndefined();
  });
});
