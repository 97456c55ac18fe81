import { expect, it } from 'vitest';
import { readEmphasis } from '#core/web/problems/problem.ts';

it('what matters in a sentence is between asterisks', () => {
  expect(readEmphasis(' paid *Rp 59.000* of *Rp 95.000*')).toEqual([
    { text: ' paid ', isStrong: false },
    { text: 'Rp 59.000', isStrong: true },
    { text: ' of ', isStrong: false },
    { text: 'Rp 95.000', isStrong: true },
  ]);
});
