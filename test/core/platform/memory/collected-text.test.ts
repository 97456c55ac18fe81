import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CollectedText } from '#core/platform/memory/collected-text.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const used = () => {
  collect();
  return process.memoryUsage().heapUsed;
};

const longPieces = fc.array(fc.string({ maxLength: 3_000 }), { maxLength: 12 });
const manyPieces = fc.array(fc.string({ maxLength: 3 }), { minLength: 30, maxLength: 100 });

it('a collected text is its pieces, joined, whenever it is read', () => {
  fc.assert(
    fc.property(fc.oneof(longPieces, manyPieces), fc.nat(100), (pieces, readAt) => {
      const collected = new CollectedText();
      for (const [index, piece] of pieces.entries()) {
        if (index === readAt) expect(collected.text).toBe(pieces.slice(0, index).join(''));
        collected.add(piece);
      }
      expect([collected.text, collected.length]).toEqual([pieces.join(''), pieces.join('').length]);
    }),
  );
});

it('a collected text takes the memory of its characters, however small its pieces were', () => {
  const count = 200_000;
  const collected = new CollectedText();
  const before = used();
  for (let index = 0; index < count; index++) collected.add(JSON.parse(`"delta ${index % 10} abc"`) as string);
  const each = (used() - before) / count;
  expect(collected.length).toBe(11 * count);
  // Of a text that has grown by +=, 64.
  expect(each).toBeLessThan(20);
});
