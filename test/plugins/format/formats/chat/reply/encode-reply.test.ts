import * as fc from 'fast-check';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Fragment } from '../../../../../../plugins/format/canonical/reply.ts';
import { chatCodec } from '../../../../../../plugins/format/formats/chat/codec.ts';
import { errorSchema, eventSchema, eventType, wholeReplySchema } from '../../../../../support/schemas/chat.ts';
import { clientTool, context, decode, faults, fragmentsOf, newGuard, reply, settle } from '../fixture.ts';

const patch = clientTool({ name: 'patch', form: 'freeform' });
const say = (text: string): Fragment => ({ type: 'text', text });
const think = (text: string): Fragment => ({ type: 'reasoning', text });
const state = (data: string): Fragment => ({ type: 'reasoning_state', kind: 'signature', data });
const cite = (url: string, start?: number, end?: number): Fragment => ({
  type: 'citation',
  citation: { url, title: undefined, quote: undefined, start, end },
});
const call = (key: number, name: string, ...inputs: string[]): Fragment[] => [
  { type: 'call', key, id: `c${key}`, name },
  ...inputs.map((text): Fragment => ({ type: 'input', key, text })),
  { type: 'call_end', key },
];
const usage: Fragment = {
  type: 'usage',
  usage: { input: 10, output: 5, cacheRead: 4, cacheWrite: undefined, reasoning: 2 },
};
const finish: Fragment[] = [usage, { type: 'finish', reason: 'stop' }, { type: 'end' }];
const everything: Fragment[] = [
  think('Hm'),
  think('.'),
  state('sig'),
  say('Hel'),
  say('lo'),
  cite('https://a.example', 0, 5),
  { type: 'break' },
  say(' you'),
  cite('https://b.example', 1, 4),
  think('More'),
  { type: 'reasoning_state', kind: 'redacted', data: 'xyz' },
  say('Bye'),
  { type: 'refusal', text: 'No.' },
  ...call(0, 'weather', '{"a"', ':1}'),
  ...call(1, 'now'),
  ...call(2, 'patch', '{"input":"*** Begin"}'),
  ...finish,
];
const streaming = { stream: true, stream_options: { include_usage: true } };
const deltasOf = (fragments: Fragment[], request: JsonObject = {}) =>
  reply(fragments, request).chunks.map((chunk) => (chunk['choices'] as { delta: JsonObject }[])[0]?.delta);
const messageOf = (fragments: Fragment[], request: JsonObject = {}) =>
  (reply(fragments, request).whole['choices'] as { message: JsonObject }[])[0]?.message;

const schemaOf = (chunk: JsonObject): object => eventSchema[eventType(chunk)] ?? { not: {} };

/** What the helper of the openai SDK makes of a stream. */
async function helped(lines: readonly string[]): Promise<OpenAI.ChatCompletion> {
  const client = new OpenAI({
    apiKey: 'k',
    maxRetries: 0,
    fetch: () =>
      Promise.resolve(
        new Response(lines.map((line) => `${line}\n\n`).join(''), { headers: { 'content-type': 'text/event-stream' } }),
      ),
  });
  return await client.chat.completions
    .stream({ model: 'mine', messages: [{ role: 'user', content: 'Hi' }] })
    .finalChatCompletion();
}

describe('encoding a Chat stream', () => {
  it('a Chat stream has the role first, then the answer, a finish reason and [DONE]', () => {
    const { lines } = reply([say('Hi'), ...finish]);
    const head = { id: 'chatcmpl-x1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'mine' };
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] })}`;
    expect(lines).toEqual([
      chunk({ role: 'assistant', content: '', refusal: null }),
      chunk({ content: 'Hi' }),
      chunk({}, 'stop'),
      'data: [DONE]',
    ]);
  });

  it('a Chat stream has usage only if the client asked for it', () => {
    const { chunks } = reply([say('Hi'), ...finish], streaming);
    expect(chunks.slice(0, -1).every((chunk) => chunk['usage'] === null)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({
      id: 'chatcmpl-x1',
      choices: [],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    });
    expect(reply([say('Hi'), ...finish]).chunks.every((chunk) => !('usage' in chunk))).toBe(true);
  });

  it('a Chat call opens with id, type and name, which later pieces omit', () => {
    expect(deltasOf([...call(7, 'a', '{"x"', ':1}'), ...call(8, 'b'), ...finish]).slice(1, -1)).toEqual([
      { tool_calls: [{ index: 0, id: 'c7', type: 'function', function: { name: 'a', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
      { tool_calls: [{ index: 1, id: 'c8', type: 'function', function: { name: 'b', arguments: '' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
    ]);
  });

  it('every chunk of a Chat stream fits the schema', () => {
    for (const request of [{}, streaming]) {
      for (const chunk of reply(everything, request, [patch]).chunks) {
        expect(faults(schemaOf(chunk), chunk)).toBeUndefined();
      }
    }
  });

  it.each([
    ['everything', [say('Hello'), { type: 'refusal', text: 'No.' } as const, ...call(0, 'a', '{"x":', '1}')]],
    ['calls', [...call(0, 'a', '{"x":', '1}')]],
    ['thoughts', [think('Hm')]],
    ['thoughts and calls', [think('Hm'), ...call(0, 'a')]],
    ['thoughts and a text', [think('Hm'), say('Hello')]],
    ['a refusal', [{ type: 'refusal', text: 'No.' } as const]],
    ['nothing', []],
  ])('the OpenAI SDK reads the same from a Chat stream and a whole reply: %s', async (_, fragments) => {
    const { lines, whole } = reply([...fragments, ...finish], streaming);
    const completion = await helped(lines);
    const [choice] = whole['choices'] as { message: object; finish_reason: string }[];
    expect(completion.choices[0]?.message).toMatchObject(choice?.message ?? {});
    expect(completion.choices[0]?.finish_reason).toBe(choice?.finish_reason);
    expect(completion.usage).toEqual(whole['usage']);
  });

  it('a failed Chat stream ends with an error in the shape of the format', async () => {
    const encoder = chatCodec.createEncoder(context());
    const lines = encoder.encodeFailure(new GatewayError('upstream_failed', 'it broke')).split('\n\n').slice(0, -1);
    expect(lines).toHaveLength(1);
    expect(faults(errorSchema, JSON.parse((lines[0] ?? '').slice('data: '.length)))).toBeUndefined();
    await expect(helped(lines)).rejects.toThrow('it broke');
  });
});

describe('encoding a whole Chat reply', () => {
  it('a whole Chat reply fits the schema', () => {
    for (const fragments of [
      everything,
      [say('Hi'), ...finish],
      [...call(0, 'a'), ...finish],
      [think('Hm'), ...finish],
    ]) {
      expect(faults(wholeReplySchema, reply(fragments, {}, [patch]).whole)).toBeUndefined();
    }
  });

  it('the content of a whole Chat reply is null if it has calls, and empty if it has nothing', () => {
    expect(messageOf([...call(0, 'a'), ...finish])).toMatchObject({ content: null, refusal: null });
    expect(messageOf([think('Hm'), ...finish])).toMatchObject({ content: '', reasoning_content: 'Hm' });
  });

  it('texts of a Chat message are joined, and citations are moved with them', () => {
    expect(messageOf(everything)).toMatchObject({
      content: 'Hello youBye',
      refusal: 'No.',
      reasoning_content: 'Hm.\n\nMore',
      annotations: [
        { url_citation: { url: 'https://a.example', start_index: 0, end_index: 5 } },
        { url_citation: { url: 'https://b.example', start_index: 6, end_index: 9 } },
      ],
    });
  });

  it('texts of a Chat message that do not continue each other are paragraphs, unless it has an output format', () => {
    const fragments: Fragment[] = [
      say('I look.'),
      { type: 'break', isParagraph: true },
      think('Hm'),
      say('Done.'),
      ...finish,
    ];
    expect(messageOf(fragments)).toMatchObject({ content: 'I look.\n\nDone.' });
    const guard = newGuard([], { isStructured: true });
    guard.push(fragments);
    expect(guard.reply?.blocks.map((block) => 'isParagraph' in block)).toEqual([false, false, false]);
  });

  it('freeform calls of a Chat reply are custom, and searches are functions', () => {
    const search = clientTool({ name: 'tool_search', form: 'tool_search' });
    const fragments = [...call(0, 'patch', '{"input":"*** Begin"}'), ...call(1, 'tool_search', '{"q":1}'), ...finish];
    expect(reply(fragments, {}, [patch, search]).whole).toMatchObject({
      choices: [
        {
          message: {
            tool_calls: [
              { id: 'c0', type: 'custom', custom: { name: 'patch', input: '*** Begin' } },
              { id: 'c1', type: 'function', function: { name: 'tool_search', arguments: '{"q":1}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    });
  });

  it('a client with deprecated functions gets deprecated function calls', () => {
    const request = { functions: [{ name: 'a' }] };
    const fragments = [...call(0, 'a', '{"x"', ':1}'), ...call(1, 'b'), ...finish];
    expect(reply(fragments, request).whole).toMatchObject({
      choices: [{ message: { function_call: { name: 'a', arguments: '{"x":1}' } }, finish_reason: 'function_call' }],
    });
    expect(deltasOf(fragments, request).slice(1, -1)).toEqual([
      { function_call: { name: 'a', arguments: '' } },
      { function_call: { arguments: '{"x"' } },
      { function_call: { arguments: ':1}' } },
    ]);
  });

  it.each([
    ['stop', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause', 'length'],
    ['length', 'length'],
    ['context_length', 'length'],
    ['content_filter', 'content_filter'],
  ] as const)('that ends by %s says %s', (reason, word) => {
    const { whole, chunks } = reply([say('x'), { type: 'finish', reason }, { type: 'end' }]);
    expect(whole).toMatchObject({ choices: [{ finish_reason: word }] });
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: word }] });
  });
});

describe('Chat reasoning in both directions', () => {
  it('states of Chat reasoning survive the way to the client and back', () => {
    const fragments = [
      think('One'),
      state('a'),
      { type: 'break' } as const,
      think('Two'),
      state('b'),
      say('x'),
      ...finish,
    ];
    const { items } = decode({ model: 'm', messages: [messageOf(fragments) ?? {}] }).conversation;
    expect(items).toMatchObject([
      { type: 'reasoning', text: 'One', state: { kind: 'signature', data: 'a' } },
      { type: 'reasoning', text: 'Two', state: { kind: 'signature', data: 'b' } },
      { type: 'message' },
    ]);
  });

  it('the helper of the OpenAI SDK keeps all states of Chat reasoning', async () => {
    const fragments = [
      think('One'),
      state('a'),
      { type: 'break' } as const,
      think('Two'),
      state('b'),
      say('x'),
      ...finish,
    ];
    const { choices } = await helped(reply(fragments).lines);
    expect(choices[0]?.message).toMatchObject({ reasoning_details: messageOf(fragments)?.['reasoning_details'] });
  });
});

describe('encoding arbitrary replies as Chat', () => {
  const piece = fc.oneof(
    fc.record({ type: fc.constantFrom('text', 'reasoning', 'refusal'), text: fc.string({ minLength: 1 }) }),
    fc.constant({ type: 'break' }),
    fc.constant(state('s')),
    fc.constant(cite('https://a.example', 1, 2)),
    fc.record({ type: fc.constant('call'), key: fc.nat(2), name: fc.constantFrom('a', 'patch') }),
    fc.record({ type: fc.constant('input'), key: fc.nat(2), text: fc.string() }),
  );

  it('a Chat reply fits the schemas, and its decoded stream is the whole reply', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const fragments = [say('x'), ...(pieces as Fragment[]), ...finish];
        const { chunks, whole } = reply(fragments, streaming, [patch]);
        expect(faults(wholeReplySchema, whole)).toBeUndefined();
        for (const chunk of chunks) expect(faults(schemaOf(chunk), chunk)).toBeUndefined();
        const streamed = settle([...fragmentsOf(chunks), { type: 'end' }], [patch]);
        const text = (reply(fragments).whole['choices'] as { message: JsonObject }[])[0]?.message['content'] ?? '';
        expect(streamed.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')).toBe(text);
      }),
      { numRuns: 100 },
    );
  });
});
