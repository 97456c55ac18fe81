import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bounds } from '#core/bounds.ts';
import { EventSplitter } from '../../../../plugins/format/pass-through/event-splitter.ts';

function split(text: string, cuts: number[]): string[] {
  const splitter = new EventSplitter();
  const bytes = Buffer.from(text);
  const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
  const pieces = edges.slice(1).map((end, index) => splitter.push(bytes.subarray(edges[index], end)).toString());
  return [...pieces, splitter.rest().toString()].filter((piece) => piece !== '');
}

describe('event splitter', () => {
  it('lets whole events through and holds the rest back', () => {
    expect(split('data: 1\n\ndata: 2\n\ndata: 3', [])).toEqual(['data: 1\n\ndata: 2\n\n', 'data: 3']);
  });

  it.each([
    ['LF', 'data: 1\n\n'],
    ['CRLF', 'data: 1\r\n\r\n'],
    ['CR', 'data: 1\r\r'],
    ['LF and CRLF', 'data: 1\n\r\n'],
  ])('knows a blank line that ends in %s', (_, event) => {
    expect(split(`${event}data: 2`, [])).toEqual([event, 'data: 2']);
  });

  it('finds a blank line that is cut into single bytes', () => {
    const text = 'data: ä\r\n\r\ndata: 2\n\n';
    const bytes = Buffer.byteLength(text);
    const pieces = split(
      text,
      Array.from({ length: bytes - 1 }, (_, index) => index + 1),
    );
    expect(pieces).toEqual(['data: ä\r\n\r\n', 'data: 2\n\n']);
  });

  it('delivers the same bytes wherever the stream is cut, and only whole events', () => {
    const event = fc.constantFrom('data: a\n\n', 'event: x\r\ndata: ü\r\n\r\n', ': comment\n\n', 'data: b\r\r');
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.array(fc.nat(120), { maxLength: 20 }), (events, cuts) => {
        const text = events.join('');
        const length = Buffer.byteLength(text);
        const pieces = split(
          text,
          cuts.map((cut) => Math.min(cut, length)),
        );
        expect(pieces.join('')).toBe(text);
        for (const piece of pieces) expect(piece).toMatch(/(\n\n|\r\r|\n\r\n)$/);
      }),
    );
  });

  it('puts ten megabytes in small pieces together again', () => {
    const splitter = new EventSplitter();
    const piece = Buffer.alloc(1024, 0x61);
    const early = Array.from({ length: 10_240 }, () => splitter.push(piece).length).filter((length) => length > 0);
    expect(early).toEqual([]);
    expect(splitter.push(Buffer.from('\n\n'))).toHaveLength(10_240 * 1024 + 2);
  });

  it('says when an event has outgrown every bound', () => {
    const splitter = new EventSplitter();
    splitter.push(Buffer.alloc(bounds.event));
    expect(splitter.isOverfull).toBe(false);
    splitter.push(Buffer.alloc(1));
    expect(splitter.isOverfull).toBe(true);
  });
});
