import { expect, it } from 'vitest';
import { codePieces } from '#core/web/pages/code-pieces.ts';

it.each([
  [
    '# Python\nx = "a#b"',
    [
      ['comment', '# Python'],
      ['', '\nx = '],
      ['string', '"a#b"'],
    ],
  ],
  ['curl http://x/#y', [['', 'curl http://x/#y']]],
  [
    "f('it', 1) // end",
    [
      ['', 'f('],
      ['string', "'it'"],
      ['', ', 1) '],
      ['comment', '// end'],
    ],
  ],
  ['open " only', [['', 'open " only']]],
  ['', []],
])('a sample of code has comments and strings marked: %j', (text, expected) => {
  expect(codePieces(text).map(({ kind, text: piece }) => [kind, piece])).toEqual(expected);
});
