import { expect, it } from 'vitest';
import { diffLines } from '#core/config/history/text-diff.ts';

const lines = (...words: string[]) => words.join('\n');

it('a changed line stands below the one that it replaces, with three lines around it', () => {
  const before = lines('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i');
  expect(diffLines(before, before.replace('e', 'x'))).toEqual(['  b', '  c', '  d', '- e', '+ x', '  f', '  g', '  h']);
});

it('lines between two changes that are far apart are left out', () => {
  const before = lines('a', ...'bcdefghijk', 'l');
  expect(diffLines(before, before.replace('a', 'A').replace('l', 'L'))).toEqual([
    '- a',
    '+ A',
    '  b',
    '  c',
    '  d',
    '  …',
    '  i',
    '  j',
    '  k',
    '- l',
    '+ L',
  ]);
});

it('equal texts have no difference, and a text that grows only what it gains', () => {
  expect(diffLines('a', 'a')).toEqual([]);
  expect(diffLines('a', lines('a', 'b', 'b'))).toEqual(['  a', '+ b', '+ b']);
});
