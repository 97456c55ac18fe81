import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import type { ReplyDecoder } from '../../../../plugins/format/canonical/codec.ts';
import { RepeatedEvent } from '../../../../plugins/format/canonical/repeated-event.ts';
import { ChatDecoder } from '../../../../plugins/format/formats/chat/reply/decode-reply.ts';
import { MessagesDecoder } from '../../../../plugins/format/formats/messages/reply/decode-reply.ts';

const textOf = ({ text }: JsonObject) => text;

/** Texts as models write them, and what JSON has to escape. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '"', '\\', '\n', 'content', 'a', '{"a":"b"}'),
);

const chatDeltas = fc.oneof(
  { weight: 8, arbitrary: text.map((content) => ({ content })) },
  text.map((reasoning_content) => ({ content: '', reasoning_content })),
  text.map((reasoning) => ({ reasoning, reasoning_content: reasoning })),
  text.map((refusal) => ({ content: null, refusal })),
  text.map((content) => ({ content, annotations: [{ url_citation: { url: 'https://a.example' } }] })),
  text.map((input) => ({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: input } }] })),
);
const chatMembers = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  fc.constantFrom<object>(
    { service_tier: 'flex' },
    { citations: ['https://b.example'] },
    { usage: { prompt_tokens: 1, completion_tokens: 2 } },
  ),
  { weight: 8, arbitrary: text.map((obfuscation) => ({ obfuscation })) },
);
const chatEvents = fc
  .tuple(chatDeltas, chatMembers, fc.constantFrom(null, null, null, null, null, null, 'stop'))
  .map(([delta, members, finish_reason]) => ({ id: 'a', choices: [{ index: 0, delta, finish_reason }], ...members }));

const messagesEvents = fc.oneof(
  { weight: 8, arbitrary: text.map((value) => inBlock({ type: 'text_delta', text: value })) },
  { weight: 2, arbitrary: text.map((value) => inBlock({ type: 'thinking_delta', thinking: value })) },
  { weight: 2, arbitrary: text.map((value) => inBlock({ type: 'input_json_delta', partial_json: value })) },
  text.map((value) => inBlock({ type: 'text_delta', text: value, citation: { url: 'https://a.example' } })),
  text.map((value) => inBlock({ type: 'signature_delta', signature: value })),
  fc.constantFrom('text', 'thinking', 'tool_use', 'server_tool_use').map((type) => ({
    type: 'content_block_start',
    index: 0,
    content_block: { type, id: 'c', name: 'f', input: {} },
  })),
  fc.constant({ type: 'content_block_stop', index: 0 }),
);

/** Around all others. A Chat decoder finds nothing in them. */
const begin = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
const end = { type: 'content_block_stop', index: 0 };

function inBlock(value: object) {
  return { type: 'content_block_delta', index: 0, delta: value };
}

/** The fragments of each event; with a number in each, no event is like another. */
function decoded(decoder: ReplyDecoder, events: readonly object[], isNumbered: boolean) {
  return events.map((event, number) =>
    decoder.readEvent(undefined, JSON.stringify(isNumbered ? { number, ...event } : event)),
  );
}

describe('an event that repeats another but for its text', () => {
  it.each([
    ['Chat', () => new ChatDecoder(), chatEvents],
    ['Messages', () => new MessagesDecoder(), messagesEvents],
  ] as const)('says the same in %s as one that is parsed', (_format, decoder, events) => {
    fc.assert(
      fc.property(fc.array<object>(events, { maxLength: 24 }), (some) => {
        // Each twice: the second is the one that is not parsed.
        const given = [begin, ...some.flatMap((event) => [event, event]), end];
        expect(decoded(decoder(), given, false)).toEqual(decoded(decoder(), given, true));
      }),
    );
  });

  it('is read without being parsed', () => {
    const known = new RepeatedEvent();
    known.learn('delta', '{"text":"a","by":"b"}', 'a', textOf);
    expect(known.read('delta', '{"text":"\\u00e9\\n","by":"b"}')).toBe('é\n');
  });

  it('is read without being parsed where all letters outside of ASCII are escaped', () => {
    const known = new RepeatedEvent();
    known.learn('delta', '{"text":"\\u00e9","by":"b"}', 'é', textOf);
    expect(known.read('delta', '{"text":"\\u00fc","by":"b"}')).toBe('ü');
  });

  it.each([
    ['before', (value: string, number: string) => `{"sequence_number": ${number},"text":"${value}","by":"b"}`],
    ['behind', (value: string, number: string) => `{"text":"${value}","sequence_number": ${number},"by":"b"}`],
  ])('is read without being parsed when it has the next number %s its text', (_place, write) => {
    const known = new RepeatedEvent();
    known.learn('delta', write('a', '9'), 'a', textOf);
    expect(known.read('delta', write('b', '10'), 10)).toBe('b');
    expect(known.read('delta', write('\\"sequence_number\\": 11', '11'), 11)).toBe('"sequence_number": 11');
    expect(known.read('delta', write('b', '10'), 1)).toBeUndefined();
    expect(known.read('delta', write('b', '12'), 11)).toBeUndefined();
    expect(known.read('delta', write('b', '10'))).toBeUndefined();
  });

  it('is read without being parsed, whatever its padding', () => {
    const known = new RepeatedEvent();
    known.learn('delta', '{"text":"a","by":"b","obfuscation":"Xy1","to":"c"}', 'a', textOf);
    expect(known.read('delta', '{"text":"bcd","by":"b","obfuscation":"\\"","to":"c"}')).toBe('bcd');
    expect(known.read('delta', '{"text":"bcd","by":"b","obfuscation":"","to":"d"}')).toBeUndefined();
    expect(known.read('delta', '{"text":"bcd","obfuscation":"","by":"b","to":"c"}')).toBeUndefined();
    expect(known.read('delta', '{"text":"bcd","by":"b","obfuscation":"')).toBeUndefined();
  });

  it.each([
    ['has another name', 'other', '{"text":"a","by":"b"}'],
    ['ends its text earlier', 'delta', '{"text":"a","text":"c","by":"b"}'],
    ['has a control character in it', 'delta', '{"text":"a\u0001","by":"b"}'],
    ['ends in half an escape', 'delta', '{"text":"a\\","by":"b"}'],
    ['overlaps with itself', 'delta', '{"text":","by":"b"}'],
  ])('is parsed when it %s', (_reason, name, data) => {
    const known = new RepeatedEvent();
    known.learn('delta', '{"text":"a","by":"b"}', 'a', textOf);
    expect(known.read(name, data)).toBeUndefined();
  });

  it('is parsed if its text cannot be distinguished from another', () => {
    const known = new RepeatedEvent();
    known.learn('delta', '{"by":"a","text":"a"}', 'a', textOf);
    expect(known.read('delta', '{"by":"b","text":"a"}')).toBeUndefined();
  });

  it('is no longer looked for when none has come', () => {
    const known = new RepeatedEvent();
    for (let number = 0; number < 9; number++) known.learn('delta', `{"text":"a","n":${number}}`, 'a', textOf);
    expect(known.read('delta', '{"text":"b","n":8}')).toBeUndefined();
  });
});
