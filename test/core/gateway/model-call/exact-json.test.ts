import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayContainLongNumbers, parseExact, parseExactInputs } from '#core/gateway/model-call/exact-json.ts';
import { runs } from '../../../support/runs.ts';

const long = '12345678901234567890';
const roundTrip = (text: string) => JSON.stringify(parseExact(text));
const codeOf = (parse: () => unknown) => {
  try {
    return JSON.stringify(parse());
  } catch (error) {
    return (error as Error).name;
  }
};

/** Milliseconds. */
function fastestOfFive(run: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const begin = performance.now();
    run();
    return performance.now() - begin;
  });
  return Math.min(...times);
}

describe('a number that a double cannot hold', () => {
  it.each([long, `-${long}`, `0.${long}`, `${long}.5`, `${long}e10`])('stays as it was written: %s', (number) => {
    expect(roundTrip(`{"a":[${number}],"b":{"c":${number}}}`)).toBe(`{"a":[${number}],"b":{"c":${number}}}`);
  });

  it('stays in a member called __proto__', () => {
    expect(roundTrip(`{"__proto__":${long}}`)).toBe(`{"__proto__":${long}}`);
  });

  it('is a number like any other outside of the inputs of calls', () => {
    expect(parseExactInputs(`{"temperature":${long},"args":{}}`)).toEqual({ temperature: Number(long), args: {} });
  });

  it('stays in the input of a call, however deep', () => {
    expect(JSON.stringify(parseExactInputs(`[{"seed":${long},"input":{"ids":[{"id":${long}}]}}]`))).toBe(
      `[{"seed":12345678901234567000,"input":{"ids":[{"id":${long}}]}}]`,
    );
  });

  it('is text inside of a string', () => {
    expect(parseExact(`{"a":"\\"${long}","b":${long}}`)).toMatchObject({ a: `"${long}` });
  });

  it.each([`{${long}:1}`, `{"a":0${long}}`, `{"a":${long}.}`, `{"a":-}`, `{"a":${long}-}`, `[${long} ${long}]`])(
    'does not make malformed JSON valid: %s',
    (text) => {
      expect(() => parseExact(text)).toThrow(SyntaxError);
      expect(() => parseExactInputs(text)).toThrow(SyntaxError);
    },
  );
});

describe('any other JSON', () => {
  it('is parsed as by JSON.parse', () => {
    const texts = fc.oneof(
      fc.json(),
      fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', '1', '.', 'e', '-', ' ', 'a') }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(codeOf(() => parseExact(text))).toBe(codeOf(() => JSON.parse(text)));
      }),
    );
  });

  it('may hold long numbers where a regular expression finds them', () => {
    const texts = fc.string({ unit: fc.constantFrom('1', '1', '1', '1', '1', '1', '1', '.', ' '), maxLength: 80 });
    fc.assert(
      fc.property(texts, (text) => {
        expect(mayContainLongNumbers(text)).toBe(/\d[\d.]{15}/.test(text));
      }),
      runs(200),
    );
  });

  it('holds no long numbers because its strings do', () => {
    expect(mayContainLongNumbers(`{"a":"${'1'.repeat(2_000_000)}"}`)).toBe(false);
    expect(mayContainLongNumbers(`{"a":"${'1'.repeat(2_000_000)}","b":${long}}`)).toBe(true);
  });

  it('holds one as soon as its first digits have been read, however many follow', () => {
    const text = `{"a":${'1'.repeat(4_000_000)}}`;
    expect(fastestOfFive(() => mayContainLongNumbers(text))).toBeLessThan(fastestOfFive(() => JSON.parse(text)) / 4);
  });
});
