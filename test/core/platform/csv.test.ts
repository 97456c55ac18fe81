import { describe, expect, it } from 'vitest';
import { formatCsvLine } from '#core/platform/csv.ts';

describe('a line of a CSV file', () => {
  it.each([
    ['plain', 'plain'],
    ['a, b', '"a, b"'],
    ['a "quoted" word', '"a ""quoted"" word"'],
    ['two\nlines', '"two\nlines"'],
    [' around ', '" around "'],
    ['', ''],
  ])('quotes %j as RFC 4180 does', (value, expected) => {
    expect(formatCsvLine([value])).toBe(expected);
  });

  it.each(['=1+1', '+62811', '-2', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1+1', '＋1', '－1', '＠SUM(A1)'])(
    'runs no formula: %j',
    (value) => {
      expect(formatCsvLine([value])).toMatch(/^"?'/);
    },
  );

  it.each(['a;=1+1;b', 'a\t=1', 'a\n=1\nb', 'a;"=1";b', 'a; =1', ' =1', 'a\r\n\t@SUM(A1)', 'a;＝1'])(
    'runs no formula where semicolons or tabs separate cells, and quotes in a cell mean nothing: %j',
    (value) => {
      const cells = formatCsvLine(['x', value]).split(/[;\t\r\n]/);
      expect(cells.filter((cell) => /^["\s]*[=+\-@＝＋－＠]/.test(cell))).toEqual([]);
    },
  );

  it.each([
    '000123',
    '0012345678901234',
    '1234567890123456',
    '0012345678901234567890',
    '12E5',
    '735e22',
    '12E+5',
    '7e-8',
    '.5E3',
    ' 007',
  ])('shows digits as they are where a spreadsheet would make a number of them: %s', (value) => {
    expect(formatCsvLine([value])).toBe(`'${value}`);
  });

  it.each(['0', '123456789012345', 'R-000012', '2026-11-01', 'ORD-735E22', '0812a'])(
    'leaves a text alone that a spreadsheet shows as it is: %s',
    (value) => {
      expect(formatCsvLine([value])).toBe(value);
    },
  );

  it('keeps signs inside of a text', () => {
    expect(formatCsvLine(['1+1=2, a-b; x@y', 'to-day'])).toBe('"1+1=2, a-b; x@y",to-day');
  });

  it('takes no longer than its text, however many blanks and separators there are', () => {
    const began = performance.now();
    formatCsvLine([
      `${'\n'.repeat(50_000)}${' ;'.repeat(50_000)}`,
      `${'1'.repeat(200_000)}x`,
      `${'0'.repeat(200_000)} x`,
    ]);
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  it('hides no formula behind a quote', () => {
    expect(formatCsvLine(['=HYPERLINK("http://x","y")'])).toBe(`"'=HYPERLINK(""http://x"",""y"")"`);
  });

  it('keeps numbers, also below zero, and leaves out what is missing', () => {
    expect(formatCsvLine([95_000, -95_000, undefined, 'x'])).toBe('95000,-95000,,x');
  });
});
