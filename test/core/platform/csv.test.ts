import { describe, expect, it } from 'vitest';
import { csvLine } from '#core/platform/csv.ts';

describe('a line of a CSV file', () => {
  it.each([
    ['plain', 'plain'],
    ['a, b', '"a, b"'],
    ['a "quoted" word', '"a ""quoted"" word"'],
    ['two\nlines', '"two\nlines"'],
    [' around ', '" around "'],
    ['', ''],
  ])('quotes %j as RFC 4180 does', (value, expected) => {
    expect(csvLine([value])).toBe(expected);
  });

  it.each(['=1+1', '+62811', '-2', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1+1', '＋1', '－1', '＠SUM(A1)'])(
    'runs no formula: %j',
    (value) => {
      expect(csvLine([value])).toMatch(/^"?'/);
    },
  );

  it('hides no formula behind a quote', () => {
    expect(csvLine(['=HYPERLINK("http://x","y")'])).toBe(`"'=HYPERLINK(""http://x"",""y"")"`);
  });

  it('keeps numbers, also below zero, and leaves out what is missing', () => {
    expect(csvLine([95_000, -95_000, undefined, 'x'])).toBe('95000,-95000,,x');
  });
});
