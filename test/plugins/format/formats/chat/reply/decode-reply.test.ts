import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { chatCodec } from '../../../../../../plugins/format/formats/chat/codec.ts';
import { ChatDecoder } from '../../../../../../plugins/format/formats/chat/reply/decode-reply.ts';
import { runs } from '../../../../../support/runs.ts';
import { clientTool, delta, fragmentsOf, newGuard, settle } from '../fixture.ts';

const stop = delta({}, { finish_reason: 'stop' });
const replyTo = (...chunks: (JsonObject | string)[]) => settle(fragmentsOf([...chunks, '[DONE]']));
const blocksOf = (...chunks: (JsonObject | string)[]) => replyTo(...chunks).blocks;
const piece = (index: number | undefined, entry: JsonObject): JsonObject =>
  delta({ tool_calls: [index === undefined ? entry : { index, ...entry }] });
const opening = (index: number | undefined, id: string | undefined, name: string, input = ''): JsonObject =>
  piece(index, { ...(id !== undefined && { id }), type: 'function', function: { name, arguments: input } });
const input = (index: number | undefined, text: string): JsonObject => piece(index, { function: { arguments: text } });
/** Pieces of several calls in one chunk, without numbers. */
const pieces = (...texts: string[]): JsonObject =>
  delta({ tool_calls: texts.map((text) => ({ function: { arguments: text } })) });
const message = (said: JsonObject, more: JsonObject = {}): JsonObject => ({
  choices: [{ index: 0, message: { role: 'assistant', ...said }, finish_reason: 'stop', ...more }],
});
const whole = (body: JsonObject) => settle(new ChatDecoder().readWhole(body));
const failureOf = (...chunks: (JsonObject | string)[]) => {
  const guard = newGuard();
  guard.push(fragmentsOf([delta({ content: 'x' }), ...chunks]));
  return guard.failure;
};

const detail = (text: string) => delta({ reasoning_details: [{ type: 'reasoning.text', text }] });
const entry = (value: number): JsonObject => ({ function: { name: 'a', arguments: { x: value } } });
const again = (text: string, id = 'c1') => opening(0, id, 'a', text);
const usageOf = (body: JsonObject) => replyTo(delta({ content: 'x' }), stop, body).usage;
const inline = (...texts: string[]) =>
  settle(
    fragmentsOf(
      [...texts.map((content) => delta({ content })), stop, '[DONE]'],
      chatCodec.createDecoder(mergeProfiles({ quirks: { inline_thinking: true } })),
    ),
  ).blocks;

describe('decoding a Chat reply of a server in Go, which writes every member', () => {
  const other = { custom: { name: '', input: '' } };
  const empty = { refusal: '', audio: { id: '', expires_at: 0 }, function_call: { name: '', arguments: '' } };
  const answer = { type: 'tool_call', id: 'c1', name: 'look', form: 'function', input: '{"at":1}' };

  it('a whole Chat reply keeps its calls', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' }, ...other };
    const reply = whole(message({ content: '', ...empty, tool_calls: [call] }, { finish_reason: '' }));
    expect(reply).toMatchObject({ blocks: [answer], finish: 'tool_calls' });
  });

  it('a Chat stream keeps its calls, and has no notes on empty parts', () => {
    const guard = newGuard();
    guard.push(
      fragmentsOf([
        delta({ content: '', ...empty }, { finish_reason: '' }),
        delta({ ...empty, tool_calls: [{ index: 0, id: 'c1', function: { name: 'look', arguments: '' }, ...other }] }),
        delta({
          ...empty,
          tool_calls: [{ index: 0, id: '', function: { name: '', arguments: '{"at":1}' }, ...other }],
        }),
        delta({ ...empty }, { finish_reason: 'stop' }),
        '[DONE]',
      ]),
    );
    expect(guard.reply).toMatchObject({ blocks: [answer], finish: 'tool_calls' });
    expect(guard.notes.entries).toEqual([]);
  });

  it('a Chat stream of nothing but audio is an answer', () => {
    const guard = newGuard();
    guard.push(fragmentsOf([delta({ audio: { id: 'a', data: 'UklG' } }), stop, '[DONE]']));
    expect(guard.failure).toBeUndefined();
    expect(guard.reply).toMatchObject({ blocks: [], finish: 'stop' });
    expect(guard.notes.entries).toEqual(['dropped audio in the answer']);
  });
});

describe('the service tier of a Chat reply', () => {
  it.each([
    ['on_demand', undefined],
    ['standard', 'default'],
    ['flex', 'flex'],
  ])('%j is %j to clients of other formats', (service_tier, tier) => {
    expect(whole({ ...message({ content: 'Hi' }), service_tier }).tier).toBe(tier);
  });
});

describe('decoding a Chat stream', () => {
  it('a Chat stream is decoded into text, reasoning, refusal and calls', () => {
    const reply = replyTo(
      delta({ role: 'assistant', content: '', refusal: null }),
      delta({ reasoning_content: 'Hm' }),
      delta({ reasoning_content: '.' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      opening(0, 'c1', 'weather'),
      input(0, '{"a"'),
      input(0, ':1}'),
      opening(1, 'c2', 'now'),
      delta({}, { finish_reason: 'tool_calls' }),
      { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
    );
    expect(reply).toMatchObject({
      blocks: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Hello' },
        { type: 'tool_call', id: 'c1', name: 'weather', input: '{"a":1}' },
        { type: 'tool_call', id: 'c2', name: 'now', input: '{}' },
      ],
      finish: 'tool_calls',
      usage: { input: 10, output: 5 },
    });
    expect(blocksOf(delta({ refusal: 'No.' }), stop)).toMatchObject([{ type: 'refusal', text: 'No.' }]);
  });

  it.each([
    ['the whole text', [delta({ content: 'hello' })]],
    ['the last piece', [delta({ content: 'lo' })]],
    ['the whole text, with the finish', [delta({ content: 'hello' }, { finish_reason: 'stop' })]],
    ['nothing', [delta({ content: '' })]],
  ])('%s that a Chat stream repeats behind the finish is decoded once', (_what, after) => {
    expect(blocksOf(delta({ content: 'hel' }), delta({ content: 'lo' }), stop, ...after)).toMatchObject([
      { type: 'text', text: 'hello' },
    ]);
  });

  it('new content behind the finish of a Chat stream is kept', () => {
    expect(blocksOf(delta({ content: 'hel' }), stop, delta({ content: 'hello' }))).toMatchObject([{ text: 'hello' }]);
    expect(blocksOf(delta({ content: 'hel' }), stop, delta({ content: 'lo!' }))).toMatchObject([{ text: 'hello!' }]);
  });

  it('a Chat stream that ends inside a call without a finish reason is a failure', () => {
    expect(failureOf(opening(0, 'c1', 'a', '{"x":'), '[DONE]')?.message).toContain('inside a tool call');
    expect(failureOf(opening(0, 'c1', 'a', '{"x":1}'), '[DONE]')).toBeUndefined();
    expect(failureOf(opening(0, 'c1', 'a'), '[DONE]')).toBeUndefined();
    expect(failureOf(opening(0, 'c1', 'a', '{"x":'), stop, '[DONE]')).toBeUndefined();
  });

  it('a Chat stream may lack choices, deltas, contents and calls, and end without its last line', () => {
    const odd = [
      {},
      { choices: null },
      { choices: [] },
      { choices: [null] },
      { choices: [{ delta: null }] },
      delta({ content: null, tool_calls: null }),
      'no json',
      '',
      '\uFEFF{"choices":[{"delta":{"content":"Hi"}}]}',
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
    ];
    expect(settle(fragmentsOf(odd)).blocks).toMatchObject([{ type: 'text', text: 'Hi' }]);
  });

  it('an image of a Chat stream after the finish reason is dropped only if it is one of those before', () => {
    const urls = ['https://a.test/1.png', 'https://a.test/2.png'];
    const [first = {}, second = {}] = urls.map((url) => ({ images: [{ type: 'image_url', image_url: { url } }] }));
    const fragments = fragmentsOf([
      delta(first, { finish_reason: 'stop' }),
      delta(second),
      delta(second),
      delta(first),
    ]);
    const images = fragments.filter(({ type }) => type === 'image');
    expect(images).toMatchObject(urls.map((url) => ({ source: { type: 'url', url } })));
  });

  it('a Chat stream may finish twice, count before its end, and have no finish reason', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4 };
    expect(replyTo(delta({ content: 'x' }), { choices: [], usage }, stop, stop)).toMatchObject({
      finish: 'stop',
      usage: { input: 3, output: 4 },
    });
    expect(replyTo(delta({ content: 'x' }))).toMatchObject({ finish: 'stop' });
  });

  it('Chat content may be a list with reasoning in it', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
      { type: 'text', text: 'Hi' },
    ];
    expect(blocksOf(delta({ content }), stop)).toMatchObject([
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: 'Hi' },
    ]);
  });

  it('Chat reasoning may have another name, come twice, or repeat a piece', () => {
    const twice = { reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] };
    expect(blocksOf(delta(twice), delta({ content: 'x' }), stop)).toMatchObject([{ text: 'Hm.' }, {}]);
    const long = delta({ reasoning_content: 'a long thought indeed' });
    expect(blocksOf(long, long, delta({ content: 'x' }), stop)).toMatchObject([{ text: 'a long thought indeed' }, {}]);
  });

  it('every piece of a Chat stream may repeat all earlier ones', () => {
    expect(
      blocksOf(
        detail('The'),
        detail('The cat'),
        detail('The cat sat'),
        delta({ content: 'Mi' }),
        delta({ content: 'Miau' }),
        stop,
      ),
    ).toMatchObject([
      { type: 'reasoning', text: 'The cat sat' },
      { type: 'text', text: 'Miau' },
    ]);
    expect(blocksOf(detail('The'), detail(' cat'), detail(' cat'), stop)).toMatchObject([{ text: 'The cat cat' }]);
  });

  it('a Chat stream may send the whole message at once, or again at its end', () => {
    const calls = [{ id: 'c1', function: { name: 'a', arguments: '{"x":1}' } }];
    const said = message({ content: 'Hi there', tool_calls: calls });
    const expected = [{ text: 'Hi there' }, { id: 'c1', input: '{"x":1}' }];
    expect(blocksOf(said)).toMatchObject(expected);
    expect(blocksOf(delta({ content: 'Hi' }), opening(0, 'c1', 'a', '{"x"'), input(0, ':1}'), said)).toMatchObject([
      { text: 'Hi' },
      { id: 'c1', input: '{"x":1}' },
      { text: ' there' },
    ]);
    const all = [delta({ content: 'Hi there' }), opening(0, 'c1', 'a', '{"x":1}'), stop, said];
    expect(blocksOf(...all)).toMatchObject(expected);
    expect(blocksOf(...all)).toHaveLength(2);
  });

  it('citations of a Chat stream are decoded', () => {
    const annotations = [
      { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 } },
    ];
    expect(blocksOf(delta({ content: 'Hi' }), delta({ annotations }), stop)).toMatchObject([
      { citations: [{ url: 'https://a.example', title: 'A', start: 0, end: 2 }] },
    ]);
  });

  it('of several Chat answers the first is decoded', () => {
    const other = { choices: [{ index: 1, delta: { content: 'no' } }] };
    expect(blocksOf(delta({ content: 'yes' }), other, stop)).toMatchObject([{ text: 'yes' }]);
  });
});

describe('decoding calls of a Chat stream', () => {
  const two = [
    { id: 'c1', name: 'a', input: '{"x":1}' },
    { id: 'c2', name: 'b', input: '{"y":2}' },
  ];

  it('interleaved Chat calls are kept apart', () => {
    expect(
      blocksOf(opening(0, 'c1', 'a', '{"x"'), opening(1, 'c2', 'b', '{"y"'), input(0, ':1}'), input(1, ':2}'), stop),
    ).toMatchObject(two);
  });

  it('Chat calls that all have the index 0 are kept apart by their ids', () => {
    expect(
      blocksOf(opening(0, 'c1', 'a', '{"x"'), input(0, ':1}'), opening(0, 'c2', 'b'), input(0, '{"y":2}'), stop),
    ).toMatchObject(two);
  });

  it('Chat calls may have no indexes', () => {
    expect(
      blocksOf(
        opening(undefined, 'c1', 'a', '{"x"'),
        input(undefined, ':1}'),
        opening(undefined, 'c2', 'b', '{"y":2}'),
        stop,
      ),
    ).toMatchObject(two);
  });

  it('Chat calls without indexes are kept apart by the order of their pieces in a chunk', () => {
    const named = [
      { id: 'c1', type: 'function', function: { name: 'a', arguments: '' } },
      { id: 'c2', type: 'function', function: { name: 'b', arguments: '' } },
    ];
    const both = [delta({ tool_calls: named }), pieces('{"x"', '{"y"'), pieces(':1}', ':2}')];
    expect(blocksOf(...both, stop)).toMatchObject(two);
    const later = opening(undefined, 'c3', 'c', '{"z"');
    expect(blocksOf(...both, later, pieces(':3}'), stop)).toMatchObject([...two, { id: 'c3', input: '{"z":3}' }]);
  });

  it('Chat calls may have neither indexes nor ids, and an object as arguments', () => {
    const blocks = blocksOf(delta({ tool_calls: [entry(1), entry(2)] }), stop);
    expect(blocks).toMatchObject([{ input: '{"x":1}' }, { input: '{"x":2}' }]);
    expect(new Set(blocks.map((block) => (block.type === 'tool_call' ? block.id : ''))).size).toBe(2);
  });

  it('pieces of a Chat call may repeat its id and name, or have another id', () => {
    expect(blocksOf(again('{"x"'), again(':1}'), again(''), stop)).toMatchObject([two[0]]);
    const renamed = piece(0, { id: 'other', function: { arguments: ':1}' } });
    expect(blocksOf(again('{"x"'), renamed, stop)).toMatchObject([two[0]]);
    const nameless = piece(0, { id: '', function: { name: 'a', arguments: ':1}' } });
    expect(blocksOf(again('{"x"'), nameless, stop)).toMatchObject([two[0]]);
  });

  it('the name of a Chat call may arrive late', () => {
    expect(
      blocksOf(piece(0, { id: 'c1' }), input(0, '{"x"'), piece(0, { function: { name: 'a', arguments: ':1}' } }), stop),
    ).toMatchObject([two[0]]);
  });

  it('two Chat calls never share an id', () => {
    const blocks = blocksOf(opening(0, 'c1', 'a', '{"x":1}'), opening(1, 'c1', 'b', '{"y":2}'), stop);
    expect(blocks).toMatchObject([
      { id: 'c1', name: 'a' },
      { id: 'c1_2', name: 'b' },
    ]);
  });

  it('a Chat answer with calls ends with calls, whatever the finish reason', () => {
    expect(replyTo(opening(0, 'c1', 'a', '{}'), stop).finish).toBe('tool_calls');
    expect(replyTo(delta({ content: 'x' }), delta({}, { finish_reason: 'tool_calls' })).finish).toBe('stop');
  });

  it('the deprecated function call of Chat is decoded', () => {
    const name = delta({ function_call: { name: 'a', arguments: '' } });
    expect(blocksOf(name, delta({ function_call: { arguments: '{"x":1}' } }), stop)).toMatchObject([
      { name: 'a', input: '{"x":1}' },
    ]);
  });

  it('freeform Chat calls may have raw text, or text inside an object', () => {
    const patch = clientTool({ name: 'patch', form: 'freeform' });
    const custom = piece(0, { id: 'c1', type: 'custom', custom: { name: 'patch', input: '*** B' } });
    const rest = piece(0, { custom: { input: 'egin' } });
    const wrapped = opening(0, 'c1', 'patch', '{"input":"*** Begin"}');
    for (const chunks of [[custom, rest], [wrapped]]) {
      expect(settle(fragmentsOf([...chunks, stop, '[DONE]']), [patch]).blocks).toMatchObject([
        { form: 'freeform', name: 'patch', input: '*** Begin' },
      ]);
    }
  });
});

describe('decoding endings of a Chat reply', () => {
  it.each([
    ['stop', 'stop'],
    ['eos', 'stop'],
    ['COMPLETE', 'stop'],
    ['length', 'length'],
    ['model_length', 'context_length'],
    ['sensitive', 'content_filter'],
    ['something new', 'stop'],
  ])('the Chat finish reason %s is decoded as %s', (word, finish) => {
    expect(replyTo(delta({ content: 'x' }), delta({}, { finish_reason: word })).finish).toBe(finish);
  });

  it('the stop sequence of a Chat answer is decoded', () => {
    const end = delta({}, { finish_reason: 'stop', stop_reason: 'END' });
    expect(replyTo(delta({ content: 'x' }), end)).toMatchObject({ finish: 'stop_sequence', stopSequence: 'END' });
  });

  it('Chat finish reasons that mean a failure fail the answer', () => {
    expect(failureOf(delta({}, { finish_reason: 'network_error' }))?.code).toBe('upstream_failed');
    expect(failureOf(delta({}, { finish_reason: 'insufficient_system_resource' }))?.code).toBe('unavailable');
    expect(failureOf({ error: { message: 'broke' } })?.message).toContain('broke');
    expect(failureOf({ error: 'broke', code: 5 })?.message).toContain('broke');
    expect(failureOf({ base_resp: { status_code: 1000, status_msg: 'broke down' } })?.message).toContain('broke down');
    expect(failureOf(delta({}, { finish_reason: 'error', error: { message: 'provider' } }))?.message).toContain(
      'provider',
    );
    expect(failureOf({ base_resp: { status_code: 0 } })).toBeUndefined();
  });

  it('any content of a Chat event named error is a failure', () => {
    for (const data of ['{"message":"broke"}', '{"error":{"message":"broke"}}', 'broke']) {
      expect(new ChatDecoder().readEvent('error', data)).toMatchObject([
        { type: 'error', error: { code: 'upstream_failed' } },
      ]);
    }
  });
});

describe('decoding usage of a Chat reply', () => {
  it.each([
    [{ prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 } }, { cacheRead: 4, cacheWrite: 2 }],
    [{ prompt_cache_hit_tokens: 4 }, { cacheRead: 4 }],
    [{ cached_tokens: 4 }, { cacheRead: 4 }],
    [{ num_cached_tokens: 4 }, { cacheRead: 4 }],
    [{ prompt_tokens_details: { cache_creation_input_tokens: 3 } }, { cacheWrite: 3 }],
    [
      { completion_tokens_details: { reasoning_tokens: 3 }, total_tokens: 15 },
      { output: 5, reasoning: 3 },
    ],
    [
      { completion_tokens_details: { reasoning_tokens: 3 }, total_tokens: 18 },
      { output: 8, reasoning: 3 },
    ],
  ])('the Chat usage %j is decoded', (more, expected) => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, ...more };
    expect(usageOf({ choices: [], usage })).toMatchObject({ input: 10, ...expected });
  });

  it('Chat usage is found in the places of other vendors', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    expect(usageOf({ choices: [{ index: 0, delta: {}, usage }] })).toMatchObject({ input: 10, output: 5 });
    expect(usageOf({ x_groq: { usage } })).toMatchObject({ input: 10, output: 5 });
  });
});

describe('decoding reasoning inside the text of a Chat answer', () => {
  it('inline reasoning of a Chat answer is separated from the text, wherever the stream is cut', () => {
    const all = '\n<think>\nI <b think.\n</think>\n\nHello </think>';
    for (const size of [1, 2, 3, 5, 8, all.length]) {
      const texts = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
        all.slice(at * size, (at + 1) * size),
      );
      expect(inline(...texts)).toMatchObject([
        { type: 'reasoning', text: 'I <b think.' },
        { type: 'text', text: 'Hello </think>' },
      ]);
    }
  });

  it('inline Chat reasoning without a closing tag stays reasoning', () => {
    expect(inline('<think>Hm', 'm')).toMatchObject([{ type: 'reasoning', text: 'Hmm' }]);
  });

  it('a thinking tag later in a Chat answer is text', () => {
    expect(inline('Write <think>x</think>')).toMatchObject([{ type: 'text', text: 'Write <think>x</think>' }]);
    expect(inline('<thi')).toMatchObject([{ type: 'text', text: '<thi' }]);
  });

  it('thinking tags of a Chat answer are text without the quirk', () => {
    expect(blocksOf(delta({ content: '<think>x</think>y' }), stop)).toMatchObject([{ type: 'text' }]);
  });
});

describe('decoding a whole Chat reply', () => {
  it('a whole Chat reply is decoded like a stream', () => {
    const said = {
      content: 'Hi',
      reasoning_content: 'Hm',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'a', arguments: '{"x":1}' } }],
    };
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    expect(whole({ ...message(said), usage })).toEqual(
      replyTo(delta({ reasoning_content: 'Hm' }), delta({ content: 'Hi' }), opening(0, 'c1', 'a', '{"x":1}'), stop, {
        usage,
      }),
    );
  });

  it('calls of a whole Chat reply may lack ids and arguments', () => {
    const calls = [{ function: { name: 'a' } }, { function: { name: 'a', arguments: null } }];
    expect(whole(message({ content: null, tool_calls: calls })).blocks).toMatchObject([
      { id: 'call_x1_0', input: '{}' },
      { id: 'call_x1_1', input: '{}' },
    ]);
  });

  it('a whole Chat reply with only a finish reason is an empty answer', () => {
    expect(new ChatDecoder().readWhole(message({ content: '' }))).toMatchObject([
      { type: 'finish', reason: 'stop' },
      { type: 'end' },
    ]);
  });

  it('a whole Chat reply without an answer is a failure', () => {
    expect(() => whole({})).toThrow('without choices');
    expect(() => whole({ choices: [], message: 'out of order' })).toThrow('out of order');
    expect(() => whole({ object: 'error', message: 'broke' })).toThrow('broke');
  });

  it('a Chat error about an overlong prompt is reported as such', () => {
    const [failure] = new ChatDecoder().readWhole({ error: { message: 'maximum context length is 5' } });
    expect(failure).toMatchObject({ error: { details: { upstream: { isContextOverflow: true } } } });
  });
});

describe('decoding arbitrary Chat replies', () => {
  const value = fc.jsonValue({ maxDepth: 4 });
  const said = fc.record(
    {
      content: fc.oneof(fc.string(), value),
      reasoning_content: fc.oneof(fc.string(), value),
      reasoning_details: fc.oneof(fc.array(fc.record({ text: fc.string() })), value),
      refusal: value,
      annotations: value,
      function_call: value,
      tool_calls: fc.oneof(
        fc.array(
          fc.record(
            {
              index: fc.oneof(fc.integer(), value),
              id: fc.oneof(fc.string(), value),
              type: value,
              function: fc.oneof(fc.record({ name: fc.string(), arguments: fc.oneof(fc.string(), value) }), value),
              custom: value,
            },
            { requiredKeys: [] },
          ),
        ),
        value,
      ),
    },
    { requiredKeys: [] },
  );
  const choice = fc.record(
    { index: value, delta: fc.oneof(said, value), message: fc.oneof(said, value), finish_reason: value, usage: value },
    { requiredKeys: [] },
  );
  const chunk = fc.record(
    { choices: fc.oneof(fc.array(fc.oneof(choice, value)), value), usage: value, error: value, base_resp: value },
    { requiredKeys: [] },
  );

  it('neither Chat decoder nor guard fails, whatever an upstream sends', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(chunk, value), { maxLength: 8 }), fc.boolean(), (chunks, inlineThinking) => {
        const decoder = new ChatDecoder(mergeProfiles({ quirks: { inline_thinking: inlineThinking } }));
        const guard = newGuard();
        for (const one of chunks) guard.push(decoder.readEvent(undefined, JSON.stringify(one)));
        guard.push(decoder.readEvent('error', 'x'));
        newGuard().push(
          new ChatDecoder(mergeProfiles({ quirks: { inline_thinking: inlineThinking } })).readWhole(
            (chunks[0] ?? {}) as JsonObject,
          ),
        );
      }),
      runs(100),
    );
  });
});
