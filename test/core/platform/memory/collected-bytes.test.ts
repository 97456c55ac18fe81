import { describe, expect, it } from 'vitest';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';

/** Pseudo-random, so that a failure repeats. */
function* lengths(seed: number): Generator<number> {
  for (let state = seed; ;) {
    state = (state * 48_271) % 2_147_483_647;
    yield state % 5 === 0 ? state % 20_000 : state % 7;
  }
}

function collect(chunks: Iterable<Buffer>): CollectedBytes {
  const collected = new CollectedBytes();
  for (const chunk of chunks) collected.add(chunk);
  return collected;
}

describe('collected bytes', () => {
  it('are the bytes that were added, however they were cut', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const chunks = lengths(seed)
        .take(200)
        .map((length, index) => Buffer.alloc(length, index))
        .toArray();
      const whole = Buffer.concat(chunks);
      const collected = collect(chunks);
      expect(collected.size).toBe(whole.length);
      expect(collected.lastBytes(3)).toEqual(whole.subarray(-3));
      expect(collected.join().equals(whole)).toBe(true);
      collected.add(Buffer.from('more'));
      expect(collected.take().equals(Buffer.concat([whole, Buffer.from('more')]))).toBe(true);
      expect(collected.size).toBe(0);
    }
  });

  it('copy a small chunk, so that the larger buffer behind it can be freed', () => {
    const read = Buffer.alloc(65_536, 'a');
    const collected = collect([read.subarray(0, 1), read.subarray(1, 2), read.subarray(2, 6_000)]);
    read.fill('b', 1);
    expect(collected.join().subarray(1).includes('b')).toBe(false);
  });

  it('keep large chunks without a copy', () => {
    const chunks = [Buffer.alloc(65_536, 'a'), Buffer.alloc(65_536, 'b')];
    const collected = collect(chunks);
    chunks[1]?.fill('c');
    expect(collected.join().at(-1)).toBe('c'.charCodeAt(0));
  });

  it('keep a single chunk as it came', () => {
    const chunk = Buffer.from('{}');
    expect(collect([chunk]).join()).toBe(chunk);
  });
});
