import { describe, expect, it } from 'vitest';
import { NdjsonFramer } from '#core/gateway/model-call/ndjson-framer.ts';
import { bounds } from '#core/platform/bounds.ts';

const stream = Buffer.from('{"a":"é😀"}\n\n{"b":2}\r\n{"c":3}');

/** The events of a stream that comes in these pieces. */
function eventsOf(...pieces: readonly Buffer[]) {
  const framer = new NdjsonFramer();
  return [...pieces.flatMap((piece) => framer.push(piece)), ...framer.end()];
}

describe('a stream of JSON lines', () => {
  it('is the same events and bytes wherever it is cut', () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      const events = eventsOf(stream.subarray(0, cut), stream.subarray(cut));
      expect(events.map(({ data }) => data)).toEqual(['{"a":"é😀"}', undefined, '{"b":2}', '{"c":3}']);
      expect(Buffer.concat(events.map(({ raw }) => raw))).toEqual(stream);
    }
  });

  it('names no event', () => {
    expect(eventsOf(stream).map(({ name }) => name)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('has a bound for a line', () => {
    const framer = new NdjsonFramer();
    framer.push(Buffer.alloc(bounds.event));
    expect(framer.isOverLimit).toBe(false);
    framer.push(Buffer.from('x'));
    expect(framer.isOverLimit).toBe(true);
  });
});
