import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Block, CompleteReply, Fragment } from '../../../../../../plugins/format/canonical/reply.ts';
import { messagesCodec } from '../../../../../../plugins/format/formats/messages/codec.ts';
import { runs } from '../../../../../support/runs.ts';
import { guarded, repliedTo } from '../fixture.ts';

type Sent = JsonObject & { readonly type: string };

const begin = (usage: JsonObject = { input_tokens: 10, output_tokens: 1 }): Sent => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage },
});
const open = (index: number | undefined, content_block: JsonObject): Sent => ({
  type: 'content_block_start',
  index,
  content_block,
});
const piece = (index: number | undefined, delta: JsonObject): Sent => ({ type: 'content_block_delta', index, delta });
const close = (index: number | undefined): Sent => ({ type: 'content_block_stop', index });
const ending = (delta: JsonObject = { stop_reason: 'end_turn' }, usage: JsonObject = { output_tokens: 7 }): Sent => ({
  type: 'message_delta',
  delta,
  usage,
});
const end: Sent = { type: 'message_stop' };
const ping: Sent = { type: 'ping' };

const speak = (index: number, ...texts: string[]): Sent[] => [
  open(index, { type: 'text', text: '' }),
  ...texts.map((text) => piece(index, { type: 'text_delta', text })),
  close(index),
];
const call = (index: number, id: string, name: string, ...inputs: string[]): Sent[] => [
  open(index, { type: 'tool_use', id, name, input: {} }),
  ...inputs.map((partial_json) => piece(index, { type: 'input_json_delta', partial_json })),
  close(index),
];

const thought = (index: number, thinking: string, signature: string) => [
  open(index, { type: 'thinking', thinking: '', signature: '' }),
  piece(index, { type: 'thinking_delta', thinking }),
  piece(index, { type: 'signature_delta', signature }),
  close(index),
];

/** What a decoder makes of a stream: each event an object, or its data as it comes. */
function fragmentsOf(events: readonly (Sent | string)[]): Fragment[] {
  const decoder = messagesCodec.createDecoder();
  return events.flatMap((event) =>
    typeof event === 'string'
      ? decoder.readEvent(undefined, event)
      : decoder.readEvent(event.type, JSON.stringify(event)),
  );
}

const replyTo = (...events: (Sent | string)[]): CompleteReply => repliedTo(fragmentsOf(events)).reply;
const blocksOf = (...events: (Sent | string)[]): readonly Block[] => replyTo(begin(), ...events, ending(), end).blocks;
const failureOf = (...events: (Sent | string)[]): GatewayError | undefined =>
  guarded(fragmentsOf(events)).guard.failure;
const lossesOf = (fragments: Fragment[]) => guarded(fragments).guard.notes.entries;
const usageOf = (first: JsonObject, last: JsonObject) =>
  replyTo(begin(first), ...speak(0, 'x'), ending(undefined, last), end).usage;
const wholeFragments = (body: JsonObject): Fragment[] => messagesCodec.createDecoder().readWhole(body);
const whole = (body: JsonObject): CompleteReply => repliedTo(wholeFragments(body)).reply;
const answer = (content: JsonValue, more: JsonObject = {}): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 7 },
  ...more,
});

describe('decoding a Messages stream', () => {
  it('a Messages stream is decoded into reasoning, text and calls in their order', () => {
    expect(
      replyTo(
        begin(),
        ping,
        open(0, { type: 'thinking', thinking: '', signature: '' }),
        piece(0, { type: 'thinking_delta', thinking: 'Hm' }),
        piece(0, { type: 'thinking_delta', thinking: '.' }),
        piece(0, { type: 'signature_delta', signature: 'EqQB' }),
        close(0),
        open(1, { type: 'redacted_thinking', data: 'Zz==' }),
        close(1),
        ...speak(2, 'Hel', 'lo'),
        ping,
        ...call(3, 'toolu_1', 'weather', '{"a"', ':1}'),
        ...call(4, 'toolu_2', 'now'),
        ending({ stop_reason: 'tool_use', stop_sequence: null }),
        end,
      ),
    ).toMatchObject({
      blocks: [
        { type: 'reasoning', text: 'Hm.', state: 'dps1:signature:EqQB', isRedacted: false },
        { type: 'reasoning', text: '', state: 'dps1:redacted:Zz==', isRedacted: true },
        { type: 'text', text: 'Hello' },
        { type: 'tool_call', id: 'toolu_1', name: 'weather', form: 'function', input: '{"a":1}' },
        { type: 'tool_call', id: 'toolu_2', name: 'now', input: '{}' },
      ],
      finish: 'tool_calls',
      usage: { input: 10, output: 7 },
    });
  });

  it('two Messages blocks of the same kind stay separate', () => {
    expect(blocksOf(...speak(0, 'One'), ...speak(1, 'Two'))).toMatchObject([{ text: 'One' }, { text: 'Two' }]);
    expect(blocksOf(...thought(0, 'One', 'a'), ...thought(1, 'Two', 'b'))).toMatchObject([
      { text: 'One', state: 'dps1:signature:a' },
      { text: 'Two', state: 'dps1:signature:b' },
    ]);
  });

  it('Messages thinking may be signed in pieces, at once, without text, or not at all', () => {
    const opened = open(0, { type: 'thinking', thinking: '' });
    const signature = (text: string) => piece(0, { type: 'signature_delta', signature: text });
    expect(blocksOf(opened, signature('Eq'), signature('QB'), close(0))).toMatchObject([
      { type: 'reasoning', text: '', state: 'dps1:signature:EqQB', isRedacted: false },
    ]);
    expect(blocksOf(open(0, { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' }), close(0))).toMatchObject([
      { text: 'Hm.', state: 'dps1:signature:EqQB' },
    ]);
    expect(blocksOf(opened, piece(0, { type: 'thinking_delta', thinking: 'Hm.' }), close(0))).toMatchObject([
      { text: 'Hm.', state: 'dps1:none:' },
    ]);
  });

  it('a Messages stream may lack ends, event names and indexes, and have unknown events', () => {
    const unnamed = [
      begin(),
      { type: 'something_new', index: 0 },
      open(0, { type: 'text', text: 'H' }),
      piece(0, { type: 'text_delta', text: 'i' }),
      piece(0, { type: 'hologram_delta', hologram: 1 }),
      ending(),
    ].map((event) => JSON.stringify(event));
    expect(replyTo(...unnamed)).toMatchObject({ blocks: [{ text: 'Hi' }], finish: 'stop' });
    expect(
      blocksOf(open(undefined, { type: 'text' }), piece(undefined, { text: 'Hi' }), close(undefined), 'no json', ''),
    ).toMatchObject([{ text: 'Hi' }]);
    expect(blocksOf(piece(0, { type: 'text_delta', text: 'Hi' }), '[DONE]')).toMatchObject([{ text: 'Hi' }]);
  });

  it('a Messages stream may have types only in its event names', () => {
    const decoder = messagesCodec.createDecoder();
    const fragments = [begin(), ...speak(0, 'Hi'), ending(), end].flatMap(({ type, ...rest }) =>
      decoder.readEvent(type, JSON.stringify(rest)),
    );
    expect(repliedTo(fragments).reply).toMatchObject({ blocks: [{ text: 'Hi' }], usage: { output: 7 } });
  });

  it('the first event of a Messages stream may hold the whole message', () => {
    expect(replyTo(answer([{ type: 'text', text: 'Hi' }]) as Sent)).toMatchObject({
      blocks: [{ text: 'Hi' }],
      finish: 'stop',
    });
  });

  it('a Messages stream is complete without its last event, but not without a stop reason', () => {
    expect(replyTo(begin(), ...speak(0, 'Hi'), ending()).blocks).toHaveLength(1);
    const { guard } = guarded(fragmentsOf([begin(), ...speak(0, 'Hi')]));
    expect([guard.reply, guard.failure]).toEqual([undefined, undefined]);
  });

  it("blocks of Anthropic's own tools are left out", () => {
    expect(
      blocksOf(
        open(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
        piece(0, { type: 'input_json_delta', partial_json: '{"query":"a"}' }),
        close(0),
        open(1, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ title: 'A' }] }),
        close(1),
        ...speak(2, 'Found.'),
      ),
    ).toMatchObject([{ type: 'text', text: 'Found.' }]);
  });

  describe('notes on parts of a Messages answer that no other format can express', () => {
    const searched: JsonObject[] = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'a' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      { type: 'hologram' },
      { type: 'Set-Cookie: a' },
      { type: 'text', text: 'Found.' },
    ];
    const told = [
      'dropped server_tool_use in the answer',
      'dropped web_search_tool_result in the answer',
      'dropped hologram in the answer',
      'dropped unknown blocks in the answer',
    ];

    it('a whole Messages reply has the notes', () => {
      expect(lossesOf(wholeFragments(answer(searched)))).toEqual(told);
    });

    it('a Messages stream has the notes', () => {
      const events = searched.flatMap((one, index) => [open(index, one), close(index)]);
      expect(lossesOf(fragmentsOf([begin(), ...events, ending(), end]))).toEqual(told);
    });

    it('a block without a type has no note', () => {
      expect(lossesOf(fragmentsOf([begin(), open(0, {}), close(0), ending(), end]))).toEqual([]);
    });
  });

  it('Messages citations with a URL are kept, whether they come before the text or behind it', () => {
    const found = { type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'Words' };
    const paged = { type: 'page_location', document_index: 0, cited_text: 'x' };
    const citation = { url: 'https://a.example', title: 'A', quote: 'Words', start: 0, end: 2 };
    const cited = [found, paged].map((one) => piece(0, { type: 'citations_delta', citation: one }));
    const [opened, said, closed] = speak(0, 'Hi') as [Sent, Sent, Sent];
    expect(blocksOf(opened, said, ...cited, closed)).toMatchObject([{ text: 'Hi', citations: [citation] }]);
    expect(blocksOf(opened, ...cited, said, closed)).toMatchObject([{ text: 'Hi', citations: [citation] }]);
    expect(whole(answer([{ type: 'text', text: 'Hi', citations: [found, paged] }])).blocks).toMatchObject([
      { citations: [citation] },
    ]);
  });
});

describe('decoding calls of a Messages stream', () => {
  const one = { id: 'a', name: 'f', input: '{"x":1}' };
  const two = { id: 'b', name: 'g', input: '{"y":2}' };

  it('interleaved Messages calls are kept apart', () => {
    const [openA, inA, closeA] = call(0, 'a', 'f', '{"x":1}') as [Sent, Sent, Sent];
    const [openB, inB, closeB] = call(1, 'b', 'g', '{"y":2}') as [Sent, Sent, Sent];
    expect(blocksOf(openA, openB, inB, inA, closeB, closeA)).toMatchObject([one, two]);
  });

  it('Messages calls that share one index are kept apart', () => {
    expect(blocksOf(...call(0, 'a', 'f', '{"x":1}'), ...call(0, 'b', 'g', '{"y":2}'))).toMatchObject([one, two]);
    const unclosed = [call(0, 'a', 'f', '{"x":1}').slice(0, 2), call(0, 'b', 'g', '{"y":2}').slice(0, 2)];
    expect(blocksOf(...unclosed.flat())).toMatchObject([one, two]);
  });

  it('a Messages call that opens twice is one call', () => {
    const [opened, ...rest] = call(0, 'a', 'f', '{"x"', ':1}') as [Sent, ...Sent[]];
    expect(blocksOf(opened, opened, ...rest)).toMatchObject([one]);
    expect(blocksOf(opened, opened, ...rest)).toHaveLength(1);
  });

  it('Messages input that the start of the block has whole is not repeated by its deltas', () => {
    const opened = open(0, { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } });
    expect(blocksOf(opened, close(0))).toMatchObject([one]);
    const again = piece(0, { type: 'input_json_delta', partial_json: '{"x":1}' });
    expect(blocksOf(opened, again, close(0))).toMatchObject([one]);
  });

  it('pieces of Messages input may be objects, or empty', () => {
    const [opened, , closed] = call(0, 'a', 'f', '') as [Sent, Sent, Sent];
    const object = piece(0, { type: 'input_json_delta', partial_json: { x: 1 } });
    const empty = piece(0, { type: 'input_json_delta', partial_json: '' });
    expect(blocksOf(opened, empty, object, empty, closed)).toMatchObject([one]);
  });

  it('Messages calls without an id get distinct ids', () => {
    const [first, second] = blocksOf(...call(0, '', 'f'), ...call(1, '', 'f'));
    expect(first).toMatchObject({ type: 'tool_call', name: 'f', input: '{}' });
    expect(first).toHaveProperty('id', expect.stringMatching(/^call_./));
    expect((second as { id: string }).id).not.toBe((first as { id: string }).id);
  });

  it('a Messages answer with calls ends with calls, whatever stop reason is reported', () => {
    expect(replyTo(begin(), ...call(0, 'a', 'f'), ending(), end).finish).toBe('tool_calls');
    expect(replyTo(begin(), ...speak(0, 'x'), ending({ stop_reason: 'tool_use' }), end).finish).toBe('stop');
  });
});

describe('decoding endings of a Messages reply', () => {
  it.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['stop_sequence', 'stop_sequence'],
    ['pause_turn', 'pause'],
    ['refusal', 'content_filter'],
    ['model_context_window_exceeded', 'context_length'],
    ['length', 'length'],
    ['sensitive', 'content_filter'],
    ['something new', 'stop'],
  ])('the Messages stop reason %s is decoded as %s', (stop_reason, finish) => {
    expect(replyTo(begin(), ...speak(0, 'x'), ending({ stop_reason }), end).finish).toBe(finish);
    expect(whole(answer([{ type: 'text', text: 'x' }], { stop_reason })).finish).toBe(finish);
  });

  // llama.cpp says end_turn.
  it.each(['stop_sequence', 'end_turn'])(
    'the stop sequence of a Messages answer is reported along with %s',
    (stop_reason) => {
      const delta = { stop_reason, stop_sequence: 'END' };
      const expected = { finish: 'stop_sequence', stopSequence: 'END' };
      expect(replyTo(begin(), ...speak(0, 'x'), ending(delta), end)).toMatchObject(expected);
      expect(whole(answer([{ type: 'text', text: 'x' }], delta))).toMatchObject(expected);
    },
  );

  it("a Messages refusal without text has the vendor's explanation", () => {
    const explanation = 'Not this.';
    const refused = {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'cyber', explanation },
    };
    expect(replyTo(begin(), ending(refused), end)).toMatchObject({
      blocks: [{ type: 'refusal', text: explanation }],
      finish: 'content_filter',
    });
    expect(whole(answer([], refused)).blocks).toMatchObject([{ type: 'refusal', text: explanation }]);
    expect(replyTo(begin(), ...speak(0, 'I'), ending(refused), end).blocks).toMatchObject([{ type: 'text' }]);
    expect(replyTo(begin(), ending({ stop_reason: 'refusal' }), end)).toMatchObject({
      blocks: [],
      finish: 'content_filter',
    });
  });

  it('Messages stop reasons that mean a failure fail the answer', () => {
    expect(failureOf(begin(), ending({ stop_reason: 'network_error' }))?.code).toBe('upstream_failed');
    expect(failureOf(begin(), end)?.message).toContain('empty');
  });
});

describe('decoding errors of a Messages reply', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const broken = { type: 'error', error: { type: 'api_error', message: 'it broke' }, request_id: 'req_1' };
  const long = {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
  };

  it('an error ends a Messages stream, whatever comes before or after it', () => {
    expect(failureOf(begin(), ...speak(0, 'Hi'), broken, ...speak(1, 'x'), end)).toMatchObject({
      code: 'upstream_failed',
      message: expect.stringContaining('it broke') as string,
    });
    expect(failureOf(overloaded)).toMatchObject({ code: 'unavailable' });
  });

  it('a Messages error is recognised by its event name, or by its shape alone', () => {
    const decoder = messagesCodec.createDecoder();
    expect(decoder.readEvent('error', '{"message":"it broke"}')).toMatchObject([{ type: 'error' }]);
    expect(decoder.readEvent(undefined, '{"error":{"message":"it broke"}}')).toMatchObject([
      { type: 'error', error: { message: expect.stringContaining('it broke') as string } },
    ]);
  });

  it('any content of a Messages event named error is a failure', () => {
    for (const data of ['broke', '', '[]', '{}', '{"type":"overloaded_error","message":"broke"}']) {
      expect(messagesCodec.createDecoder().readEvent('error', data)).toMatchObject([{ type: 'error' }]);
    }
  });

  it('an error in place of a whole Messages reply is a failure', () => {
    for (const body of [broken, { error: { message: 'it broke' } }, {}, answer(null)]) {
      expect(wholeFragments(body)).toMatchObject([{ type: 'error', error: { code: 'upstream_failed' } }]);
    }
    expect(wholeFragments(overloaded)).toMatchObject([{ error: { code: 'unavailable' } }]);
  });

  it('a Messages error about an overlong prompt is reported as such', () => {
    expect(failureOf(long)).toMatchObject({ details: { upstream: { isContextOverflow: true } } });
  });
});

describe('decoding usage of a Messages reply', () => {
  it('Messages counts of the second part replace those of the first', () => {
    expect(usageOf({ input_tokens: 10, output_tokens: 1 }, { output_tokens: 20 })).toMatchObject({
      input: 10,
      output: 20,
    });
    expect(usageOf({ input_tokens: 10, output_tokens: 1 }, { input_tokens: 12, output_tokens: 20 })).toMatchObject({
      input: 12,
    });
  });

  it('cached Messages tokens are counted as part of the input', () => {
    const first = { input_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 };
    expect(usageOf(first, { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } })).toEqual({
      input: 123,
      output: 9,
      cacheRead: 100,
      cacheWrite: 20,
      reasoning: 4,
    });
  });

  it('zeros in one part of Messages usage do not replace counts of the other', () => {
    expect(usageOf({ input_tokens: 10 }, { input_tokens: 0, output_tokens: 5 })).toMatchObject({ input: 10 });
    expect(usageOf({ input_tokens: 10, output_tokens: 77 }, { output_tokens: 0 })).toMatchObject({ output: 77 });
    expect(usageOf({ input_tokens: 0, output_tokens: 0 }, { input_tokens: 10, output_tokens: 5 })).toMatchObject({
      input: 10,
      output: 5,
    });
  });

  it('Messages usage without counts is estimated, and the first output count is ignored', () => {
    const { guard } = guarded(fragmentsOf([begin(), ...speak(0, 'x'.repeat(40)), ending(undefined, {}), end]));
    expect(guard.usage).toMatchObject({ input: 10, output: 10, isEstimated: true });
  });
});

describe('decoding a whole Messages reply', () => {
  it('a whole Messages reply is decoded like a stream', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' },
      { type: 'redacted_thinking', data: 'Zz' },
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
      { type: 'tool_use', id: 'b', name: 'g', input: {} },
    ];
    expect(whole(answer(content, { stop_reason: 'tool_use' }))).toEqual(
      replyTo(
        begin(),
        open(0, { type: 'thinking', thinking: '', signature: '' }),
        piece(0, { type: 'thinking_delta', thinking: 'Hm.' }),
        piece(0, { type: 'signature_delta', signature: 'EqQB' }),
        close(0),
        open(1, { type: 'redacted_thinking', data: 'Zz' }),
        close(1),
        ...speak(2, 'Hi'),
        ...call(3, 'a', 'f', '{"x":1}'),
        ...call(4, 'b', 'g'),
        ending({ stop_reason: 'tool_use' }),
        end,
      ),
    );
  });

  it('content of a whole Messages reply may be a string, and have unknown blocks', () => {
    expect(whole(answer('Hi')).blocks).toMatchObject([{ type: 'text', text: 'Hi' }]);
    expect(
      whole(answer([{ type: 'hologram', data: 1 }, null, 'x', { type: 'text', text: 'Hi' }])).blocks,
    ).toMatchObject([{ type: 'text', text: 'Hi' }]);
  });

  it('a whole Messages reply may lack a stop reason', () => {
    expect(whole(answer([{ type: 'text', text: 'Hi' }], { stop_reason: null })).finish).toBe('stop');
  });
});

const words = (value: string) => ({ type: 'text', text: value });
const streamed = (blocks: readonly JsonObject[]): Sent[] => [
  begin(),
  ...blocks.flatMap((block, index) => [open(index, block), close(index)]),
  ending(),
  end,
];
const paragraphsIn = (fragments: Fragment[], options = {}) =>
  repliedTo(fragments, options).reply.blocks.flatMap((block) =>
    block.type === 'text' ? [block.isParagraph === true] : [],
  );

describe('texts of a Messages answer', () => {
  const used = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'S' };
  const searched = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
  const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };

  it.each<[string, JsonObject[], boolean]>([
    ['a thought', [thinking], true],
    ['a call', [used], true],
    ['a search of the vendor', [searched, found], true],
    ['nothing', [], false],
  ])('are paragraphs if they are separated, here by %s, streamed and whole', (_what, between, isApart) => {
    const blocks = [words('One'), ...between, words('Two')];
    expect(paragraphsIn(fragmentsOf(streamed(blocks)))).toEqual([false, isApart]);
    expect(paragraphsIn(wholeFragments(answer(blocks)))).toEqual([false, isApart]);
  });

  it('begin no paragraph at the beginning, and none in structured output', () => {
    expect(paragraphsIn(wholeFragments(answer([thinking, words('One')])))).toEqual([false]);
    const blocks = [words('{"a":'), thinking, words('1}')];
    expect(paragraphsIn(wholeFragments(answer(blocks)), { isStructured: true })).toEqual([false, false]);
  });
});

describe('decoding arbitrary Messages replies', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const text = fc.oneof(fc.string(), value);
  const index = fc.oneof(fc.nat(2), value);
  const kind = fc.constantFrom('text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use');
  const names = ['text', 'thinking', 'signature', 'data', 'id', 'name', 'input', 'citations'];
  const block = fc.record(
    { type: fc.oneof(kind, value), ...Object.fromEntries(names.map((name) => [name, text])) },
    { requiredKeys: [] },
  );
  const pieces = ['text', 'thinking', 'signature', 'partial_json', 'citation', 'stop_reason', 'stop_sequence'];
  const delta = fc.record(Object.fromEntries(pieces.map((name) => [name, text])), { requiredKeys: [] });
  const type = fc.constantFrom(
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message',
  );
  const event = fc.record(
    {
      type: fc.oneof({ weight: 5, arbitrary: type }, value),
      index,
      content_block: fc.oneof(block, value),
      delta: fc.oneof(delta, value),
      message: value,
      content: fc.oneof(fc.array(fc.oneof(block, value)), value),
      usage: value,
    },
    { requiredKeys: ['type'] },
  );

  it('neither Messages decoder nor guard fails, whatever an upstream sends', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof({ weight: 4, arbitrary: event }, value), { maxLength: 10 }), (events) => {
        const decoder = messagesCodec.createDecoder();
        guarded(events.flatMap((one) => decoder.readEvent(undefined, JSON.stringify(one))));
        for (const one of events) if (isJsonObject(one)) guarded(wholeFragments(one));
      }),
      runs(200),
    );
  });
});
