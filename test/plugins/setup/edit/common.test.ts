import { describe, expect, it } from 'vitest';
import { isEmpty, readLineEnd, refuse, setLineEnds } from '../../../../plugins/setup/script/edit/common.mjs';

describe('refusal', () => {
  it('a refusal says line and column, and counts characters without the byte order mark', () => {
    expect(() => refuse('\ufeff😀 x', 4, 'Found x.')).toThrow('line 1, column 3: Found x.');
    expect(() => refuse('a\r\n\r\nb', 5, 'Found b.')).toThrow('line 3, column 1: Found b.');
  });
});

describe('line ends', () => {
  it('line ends are those of the first line', () => {
    expect(readLineEnd('a\r\nb\n')).toBe('\r\n');
    expect(readLineEnd('a\nb\r\n')).toBe('\n');
    expect(readLineEnd('')).toBe('\n');
  });

  it('line ends are replaced in whichever way they were', () => {
    expect(setLineEnds('a\r\nb\n', '\n')).toBe('a\nb\n');
    expect(setLineEnds('a\r\nb\n', '\r\n')).toBe('a\r\nb\r\n');
  });
});

describe('file', () => {
  it('a file is empty when it is absent or has only whitespace', () => {
    expect([undefined, '', '\ufeff', ' \r\n\t\n'].map(isEmpty)).toEqual([true, true, true, true]);
    expect([' a', '\n#', '\u00a0'].map(isEmpty)).toEqual([false, false, false]);
  });
});
