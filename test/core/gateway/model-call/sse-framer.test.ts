import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import { bounds } from '#core/platform/bounds.ts';
import { runs } from '../../../support/runs.ts';

/** The events of a stream that is cut at these bytes. */
function frame(stream: string | Buffer, cuts: readonly number[] = []): StreamEvent[] {
  const bytes = Buffer.from(stream);
  const framer = new SseFramer();
  const edges = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
  const events = edges.slice(1).flatMap((end, index) => framer.push(bytes.subarray(edges[index], end)));
  return [...events, ...framer.end()];
}

const fieldsOf = (events: readonly StreamEvent[]) =>
  events.flatMap(({ name, data }) => (data === undefined ? [] : [{ name, data }]));
const rawOf = (events: readonly StreamEvent[]) => Buffer.concat(events.map(({ raw }) => raw));

/** What another implementation of the standard reads. */
function parsedElsewhere(stream: string): { name: string | undefined; data: string }[] {
  const events: { name: string | undefined; data: string }[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ name: event, data }) });
  parser.feed(stream);
  return events;
}

const eventText = fc
  .record({
    lines: fc.array(
      fc.constantFrom(
        'event: a',
        'event:b',
        'data: {"x":1}',
        'data:  ü😀',
        'data:',
        'data',
        ': ping',
        'id: 1',
        'datax: 2',
      ),
      { minLength: 1, maxLength: 4 },
    ),
    lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
    isSpaced: fc.boolean(),
  })
  .map(({ lines, lineEnd, isSpaced }) => lines.join(lineEnd) + lineEnd.repeat(isSpaced ? 3 : 2));

describe('SseFramer', () => {
  it.each([
    ['LF', 'event: a\ndata: 1\n\n'],
    ['CRLF', 'event: a\r\ndata: 1\r\n\r\n'],
    ['CR', 'event: a\rdata: 1\r\r'],
    ['LF and CRLF', 'event: a\ndata: 1\n\r\n'],
  ])('reads lines that end in %s', (_, text) => {
    expect(fieldsOf(frame(`${text}data: 2\n\n`))).toEqual([
      { name: 'a', data: '1' },
      { name: undefined, data: '2' },
    ]);
  });

  it('joins the data lines of an event with line feeds', () => {
    expect(fieldsOf(frame('data: 1\r\ndata:\r\ndata:  2\r\n\r\n'))).toEqual([{ name: undefined, data: '1\n\n 2' }]);
  });

  it('returns a comment as an event without data', () => {
    expect(frame(': ping\n\n')).toMatchObject([{ name: undefined, data: undefined, text: ': ping\n\n' }]);
  });

  it('returns the last event although its blank line is missing', () => {
    expect(fieldsOf(frame('data: 1\n\nevent: end\ndata: 2'))).toEqual([
      { name: undefined, data: '1' },
      { name: 'end', data: '2' },
    ]);
  });

  it.each([1, 2, 4, 12])('drops a byte order mark, in pieces of %i bytes too', (size) => {
    const cuts = Array.from({ length: 12 }, (_, index) => (index + 1) * size);
    const events = frame('\u{FEFF}data: 1\n\n', cuts);
    expect([fieldsOf(events), rawOf(events).toString()]).toEqual([[{ name: undefined, data: '1' }], 'data: 1\n\n']);
  });

  it.each(['\r\r', '\r\n\r'])('delivers an event at once when its blank line is %j at the end of a chunk', (ending) => {
    const framer = new SseFramer();
    expect(fieldsOf(framer.push(Buffer.from(`data: 1${ending}`)))).toEqual([{ name: undefined, data: '1' }]);
    expect(fieldsOf(framer.push(Buffer.from('\ndata: 2\n\n')))).toEqual([{ name: undefined, data: '2' }]);
  });

  it.each(['data: [DONE]', 'data:[DONE]', 'data: [DONE]\n', 'data: [DONE]\r', '\rdata: [DONE]'])(
    'delivers the end mark %j at once: nothing can follow it',
    (mark) => {
      for (const cut of [0, 4]) {
        const framer = new SseFramer();
        const events = [`data: 1\n\n${mark.slice(0, cut)}`, mark.slice(cut)].flatMap((text) =>
          framer.push(Buffer.from(text)),
        );
        expect(fieldsOf(events).map(({ data }) => data)).toEqual(['1', '[DONE]']);
      }
    },
  );

  it('keeps bytes that are not UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from('data: 1\n\ndata: "'),
      Buffer.from([0xff, 0xc3]),
      Buffer.from('"\n\n: x\n\n'),
    ]);
    expect(rawOf(frame(bytes)).equals(bytes)).toBe(true);
  });

  it('parses the object of an event, and nothing else', () => {
    const events = frame('data: {"a":1}\n\ndata: [1]\n\ndata: {\n\n: x\n\n');
    expect(events.map((event) => event.parse())).toEqual([{ a: 1 }, undefined, undefined, undefined]);
  });

  it('finds the same events and bytes wherever a stream is cut', () => {
    const stream = '\n: ü\n\nevent: a\r\ndata: ä😀\r\n\r\ndata: 1\rdata: 2\r\rdata: 3\n\n\n\ndata: 4';
    const whole = frame(stream);
    for (let cut = 1; cut < Buffer.byteLength(stream); cut++) {
      for (const cuts of [[cut], [cut, cut + 1], [cut, cut + 2]]) {
        const events = frame(stream, cuts);
        expect([cuts, fieldsOf(events), rawOf(events).toString()]).toEqual([cuts, fieldsOf(whole), stream]);
      }
    }
  });

  it('agrees with another parser on any stream, cut anywhere', () => {
    fc.assert(
      fc.property(fc.array(eventText, { maxLength: 8 }), fc.array(fc.nat(200), { maxLength: 20 }), (texts, cuts) => {
        const stream = texts.join('');
        const events = frame(stream, cuts);
        expect(rawOf(events).toString()).toBe(stream);
        expect(fieldsOf(events)).toEqual(parsedElsewhere(stream));
      }),
      runs(200),
    );
  });

  it.each(['\n', '\r\n'])('finds long events in other letters, between short ones and with %j', (lineEnd) => {
    const written = ['ü', '語'.repeat(30_000), '😀', '😀'.repeat(20_000)];
    const events = frame(written.map((data) => `data: ${data}${lineEnd}${lineEnd}`).join(''), [3, 90_000]);
    expect(fieldsOf(events).map(({ data }) => data)).toEqual(written);
    expect(rawOf(events).toString()).toBe(events.map(({ text }) => text).join(''));
  });

  it('joins ten megabytes from small pieces', () => {
    const framer = new SseFramer();
    const piece = Buffer.alloc(1024, 0x61);
    const early = Array.from({ length: 10_240 }, () => framer.push(piece)).flat();
    expect(early).toEqual([]);
    expect(framer.push(Buffer.from('\n\n'))[0]?.raw).toHaveLength(10_240 * 1024 + 2);
  });

  it('reports an event over the size limit', () => {
    const framer = new SseFramer();
    framer.push(Buffer.alloc(bounds.event));
    expect(framer.isOverLimit).toBe(false);
    framer.push(Buffer.alloc(1));
    expect(framer.isOverLimit).toBe(true);
  });

  it('returns no event from one on that would take too long to parse', () => {
    const framer = new SseFramer();
    const hostile = `data: {"list":[${'1,'.repeat(bounds.eventValues + 1)}1]}\n\n`;
    const events = framer.push(Buffer.from(`data: {"a":1}\n\n${hostile}data: {"b":1}\n\n`));
    expect(events.map(({ data }) => data)).toEqual(['{"a":1}']);
    expect(framer.isOverLimit).toBe(true);
    expect(framer.push(Buffer.from('data: {"c":1}\n\n'))).toEqual([]);
  });
});
