import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Fragment } from '../../../../plugins/format/canonical/reply.ts';
import { createReader } from '../../../../plugins/format/routes/translation/translator.ts';
import { type TextFormat, conversational } from '../../../support/formats.ts';
import { runs } from '../../../support/runs.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import {
  answer,
  context,
  eventsOf,
  exchange,
  formats,
  newGuard,
  pairs,
  requestOf,
  settle,
  streamOf,
} from './fixture.ts';

// Replies tell when they were completed.
beforeEach(() => vi.useFakeTimers({ now: 1_700_000_005_000, toFake: ['Date'] }));
afterEach(() => vi.useRealTimers());

const route = routeTo(upstreamAt('http://127.0.0.1:1/v1'));

/** What a client gets of an upstream's stream that comes in these pieces. */
function translated(client: TextFormat, upstream: TextFormat, pieces: readonly Buffer[]): string {
  const reader = createReader(exchange, requestOf(client), route, conversational[upstream]);
  const got = [...pieces.map((piece) => reader.push(piece)), reader.end()];
  expect([reader.failure, reader.isComplete]).toEqual([undefined, true]);
  return Buffer.concat(got).toString();
}

const sample: Fragment[] = [
  { type: 'reasoning', text: 'Hm 語.' },
  { type: 'reasoning_state', kind: 'signature', data: 'EqQB' },
  { type: 'text', text: 'Grüße 😀\n\n' },
  { type: 'text', text: 'data: x' },
  { type: 'call', key: 0, id: 'call_0', name: 'now' },
  { type: 'call_end', key: 0 },
  { type: 'usage', usage: { input: 3, output: 4 } },
  { type: 'finish', reason: 'tool_calls' },
  { type: 'end' },
];

describe.each(pairs)('%s from %s', (client, upstream) => {
  const stream = streamOf(upstream, settle(sample).events);
  const crlf = stream.replaceAll('\n', '\r\n');

  it('a stream is decoded to the same answer whole, byte by byte, and with CRLF line ends', () => {
    const whole = translated(client, upstream, [Buffer.from(stream)]);
    expect(
      translated(
        client,
        upstream,
        Array.from(Buffer.from(stream), (byte) => Buffer.of(byte)),
      ),
    ).toBe(whole);
    expect(
      translated(
        client,
        upstream,
        Array.from(Buffer.from(crlf), (byte) => Buffer.of(byte)),
      ),
    ).toBe(whole);
  });
});

describe.each(formats)('a stream of %s', (format) => {
  it('a stream may be cut in two at every byte', () => {
    const bytes = Buffer.from(streamOf(format, settle(sample).events));
    const whole = translated(format, format, [bytes]);
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(translated(format, format, [bytes.subarray(0, cut), bytes.subarray(cut)])).toBe(whole);
    }
  });
});

type Sent = JsonObject & { readonly type?: string };
const list = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const choiceOf = (chunk: JsonObject) => list(chunk['choices'])[0];

/** Blocks that open and close by these types, one at a time, with indexes 0, 1, 2… */
function checkBlocks(events: readonly Sent[], opening: string, closing: string, name: string): void {
  let open: number | undefined;
  let next = 0;
  for (const event of events) {
    if (event.type === opening) {
      expect([open, event[name]]).toEqual([undefined, next]);
      open = next++;
    } else if (name in event) expect(event[name]).toBe(open);
    if (event.type === closing) open = undefined;
  }
  expect(open).toBeUndefined();
}

/** The last event is the only one that ends the stream, and the first the only one that begins it. */
function checkEnds(events: readonly Sent[], begins: readonly string[], ends: readonly string[]): void {
  expect(events.filter(({ type }) => begins.includes(type ?? '')).length).toBeLessThanOrEqual(1);
  expect(begins.concat(ends)).toContain(events[0]?.type);
  expect(events.filter(({ type }) => ends.includes(type ?? ''))).toEqual([events.at(-1)]);
}

/** What each format's clients insist on. Sources: formats' API references, streaming. @throws where it is broken */
const check: Readonly<Record<TextFormat, (sent: readonly string[], hasFailed: boolean) => void>> = {
  chat(sent, hasFailed) {
    expect(sent.indexOf('[DONE]')).toBe(hasFailed ? -1 : sent.length - 1);
    const chunks = sent.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data) as Sent);
    expect(chunks.filter((chunk) => typeof choiceOf(chunk)?.['finish_reason'] === 'string')).toHaveLength(
      hasFailed ? 0 : 1,
    );
    expect(chunks.filter((chunk) => 'error' in chunk)).toEqual(hasFailed ? [chunks.at(-1)] : []);
    const deltas = chunks.map((chunk) => choiceOf(chunk)?.['delta']).filter(isJsonObject);
    expect(deltas.map(({ role }) => role)).toEqual(deltas.map((_, index) => (index === 0 ? 'assistant' : undefined)));
    const calls = deltas.flatMap(({ tool_calls }) => list(tool_calls));
    const opened = calls.filter(({ id }) => id !== undefined);
    expect(opened.map(({ index }) => index)).toEqual(opened.map((_, index) => index));
  },
  responses(sent, hasFailed) {
    const events = sent.map((data) => JSON.parse(data) as Sent);
    expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, index) => index));
    const ends = ['response.completed', 'response.incomplete', 'response.failed'];
    const errors = events.filter(({ type }) => type === 'error');
    expect(errors).toEqual(hasFailed ? [events.at(-2)] : []);
    const others = events.filter((event) => !errors.includes(event));
    checkEnds(others, ['response.created'], ends);
    expect(events.at(-1)?.type === 'response.failed').toBe(hasFailed);
    if (!hasFailed) checkBlocks(events, 'response.output_item.added', 'response.output_item.done', 'output_index');
  },
  messages(sent, hasFailed) {
    const events = sent.map((data) => JSON.parse(data) as Sent);
    checkEnds(events, ['message_start'], ['message_stop', 'error']);
    expect(events.at(-1)?.type === 'error').toBe(hasFailed);
    if (!hasFailed) checkBlocks(events, 'content_block_start', 'content_block_stop', 'index');
  },
  gemini(sent, hasFailed) {
    const chunks = sent.map((data) => JSON.parse(data) as Sent);
    const last = chunks.at(-1) ?? {};
    const ended = chunks.filter((chunk) => list(chunk['candidates']).some(({ finishReason }) => finishReason));
    expect(ended).toEqual(hasFailed ? [] : [last]);
    expect(chunks.filter((chunk) => 'error' in chunk)).toEqual(hasFailed ? [last] : []);
  },
};

const key = fc.nat(2);
const text = fc.string({ maxLength: 4 });
const piece: fc.Arbitrary<Fragment> = fc.oneof(
  fc.record({ type: fc.constantFrom('text', 'reasoning', 'refusal'), text }),
  fc.record({
    type: fc.constant('reasoning_state' as const),
    kind: fc.constantFrom('signature', 'redacted', 'none'),
    data: text,
  }),
  fc.constant<Fragment>({ type: 'break' }),
  fc.record({
    type: fc.constant('call' as const),
    key,
    id: fc.constantFrom('a', 'b'),
    name: fc.constantFrom('f', 'patch'),
  }),
  fc.record({ type: fc.constant('input' as const), key, text: fc.constantFrom('{', '}', '"x":1', ' ', '') }),
  fc.record({ type: fc.constant('call_end' as const), key }),
);

/** Data of the events that a client gets for fragments, and then for a failure if there is one. */
function sentFor(format: TextFormat, fragments: readonly Fragment[], failure?: GatewayError): string[] {
  const guard = newGuard();
  const encoder = conversational[format].client.text.createEncoder(context);
  const written = guard.push(fragments).map((event) => encoder.encodeEvent(event));
  if (failure !== undefined) written.push(encoder.encodeFailure(failure));
  return eventsOf(written.join('')).map(({ data }) => data);
}

describe.each(formats)('%s: a stream of whatever comes', (format) => {
  it('any stream begins once, has one block after the other, and ends once', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 15 }), answer, (pieces, rest) => {
        check[format](sentFor(format, [...pieces, ...rest]), false);
      }),
      runs(60),
    );
  });

  it('a stream with a failure ends once, wherever the failure comes', () => {
    const failure = new GatewayError('upstream_failed', 'it broke');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 15 }), (pieces) => {
        check[format](sentFor(format, pieces, failure), true);
      }),
      runs(60),
    );
  });
});
