import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { ReplyReader } from '#core/gateway/model-call/adapter.ts';
import type { Fragment } from '../../../../plugins/format/canonical/reply.ts';
import { PassThrough } from '../../../../plugins/format/routes/pass-through/pass-through.ts';
import { createReader } from '../../../../plugins/format/routes/translation/translator.ts';
import { conversational, type TextFormat } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { context, exchange, formats, newGuard, requestOf, settle } from './fixture.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const used = () => {
  collect();
  return process.memoryUsage().heapUsed;
};

const route = routeTo(upstreamAt('http://127.0.0.1:1/v1'));
const text = 'hello world';
const count = 20_000;

/** The begin of a stream, and one of its deltas, as an upstream writes them. */
function streamOf(upstream: TextFormat) {
  const said = { type: 'text', text } as const;
  const { events } = settle([said, said, { type: 'finish', reason: 'stop' }, { type: 'end' }]);
  const encoder = conversational[upstream].client.text.createEncoder(context);
  const written = events.map((event) => ({ type: event.type, text: encoder.encodeEvent(event) }));
  const at = written.findLastIndex((event) => event.type === 'block_delta');
  const before = written.slice(0, at).map((event) => event.text);
  return { opening: Buffer.from(before.join('')), delta: written[at]?.text ?? '' };
}

function pushDeltas(reader: ReplyReader, opening: Buffer, delta: string): void {
  reader.push(opening);
  const chunk = delta.repeat(100);
  for (let sent = 0; sent < count; sent += 100) reader.push(Buffer.from(chunk));
}

describe.each(formats)('a stream of small deltas from %s', (upstream) => {
  it.each([...formats, 'as it is'] as const)(
    'takes little more memory than its text while it is read for %s, and says how much it keeps',
    (client) => {
      const { opening, delta } = streamOf(upstream);
      const open = (): ReplyReader =>
        client === 'as it is'
          ? new PassThrough(exchange, requestOf(upstream), route).createReader()
          : createReader(exchange, requestOf(client), route, conversational[upstream]);
      // Compiled code takes memory, too.
      pushDeltas(open(), opening, delta);
      const reader = open();
      const before = used();
      pushDeltas(reader, opening, delta);
      const each = (used() - before) / count;
      // Decoder, guard and encoder may keep it. Grown by +=, each copy takes 64 bytes a delta, or 32 beside another.
      expect(each).toBeLessThan(4 * text.length + 8);
      expect(reader.failure).toBeUndefined();
      const { held = 0 } = reader;
      const isKept = client !== 'as it is' || upstream === 'responses';
      if (isKept) expect(held).toBeGreaterThanOrEqual(count * text.length);
      else expect(held).toBe(0);
    },
  );
});

it('blocks that begin and never end are counted, of which the reader keeps a record', () => {
  const reader = createReader(exchange, requestOf('chat'), route, conversational.messages);
  for (let index = 0; index < 1_000; index++)
    reader.push(
      Buffer.from(
        `event: content_block_start\ndata: {"type":"content_block_start","index":${index},"content_block":{"type":"text","text":""}}\n\n`,
      ),
    );
  expect(reader.held).toBeGreaterThanOrEqual(100_000);
});

describe('what is kept besides text', () => {
  const token = { token: '', logprob: -1, bytes: [1], top_logprobs: [] };
  it.each<[string, (index: number) => Fragment[]]>([
    ['tokens whose text never comes', () => [{ type: 'text', text: '', logprobs: [token] }]],
    ['calls that have no name', (key) => [{ type: 'call', key }]],
    [
      'input of a call that has no name',
      () => [
        { type: 'call', key: 0 },
        { type: 'input', key: 0, text },
      ],
    ],
    ['blocks of one character', (index) => [{ type: index % 2 === 0 ? 'text' : 'reasoning', text: 'x' }]],
    [
      'citations',
      () => [
        {
          type: 'citation',
          citation: {
            url: 'https://example.com',
            title: undefined,
            quote: undefined,
            start: undefined,
            end: undefined,
          },
        },
      ],
    ],
    ['what a reader keeps itself', () => [{ type: 'held', characters: 11 }]],
  ])('is counted: %s', (_what, fragmentsOf) => {
    const guard = newGuard();
    guard.push([{ type: 'text', text }]);
    const before = guard.heldCharacters;
    for (let index = 0; index < 1_000; index++) guard.push(fragmentsOf(index));
    expect(guard.heldCharacters - before).toBeGreaterThanOrEqual(11_000);
  });
});
