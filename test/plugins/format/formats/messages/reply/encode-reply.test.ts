import Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { GrammarGuard } from '../../../../../../plugins/format/canonical/guard.ts';
import { tagState } from '../../../../../../plugins/format/canonical/opaque-state.ts';
import type { CompleteReply, Fragment } from '../../../../../../plugins/format/canonical/reply.ts';
import { commonNameRules, ToolNames } from '../../../../../../plugins/format/canonical/tool-names.ts';
import { messagesCodec } from '../../../../../../plugins/format/formats/messages/codec.ts';
import { faults } from '../../../../../support/schemas/faults.ts';
import { eventSchema, wholeReplySchema } from '../../../../../support/schemas/messages.ts';
import { clientTool, context, decode, hello } from '../fixture.ts';

const patch = clientTool({ name: 'patch', form: 'freeform' });
const origin = '0a1b2c3d';
const say = (text: string): Fragment => ({ type: 'text', text });
const think = (text: string): Fragment => ({ type: 'reasoning', text });
const state = (data: string, kind: 'signature' | 'redacted' | 'thought' = 'signature'): Fragment => ({
  type: 'reasoning_state',
  kind,
  data,
});
const cite = (url: string): Fragment => ({
  type: 'citation',
  citation: { url, title: undefined, quote: 'Words', start: 0, end: 2 },
});
const call = (key: number, name: string, ...inputs: string[]): Fragment[] => [
  { type: 'call', key, id: `toolu_${key}`, name },
  ...inputs.map((text): Fragment => ({ type: 'input', key, text })),
  { type: 'call_end', key },
];
const counted = (usage: Extract<Fragment, { type: 'usage' }>['usage']): Fragment => ({ type: 'usage', usage });
const finish: Fragment[] = [
  counted({ input: 20, output: 9, cacheRead: 5, cacheWrite: 2, reasoning: 3 }),
  { type: 'finish', reason: 'stop' },
  { type: 'end' },
];
const everything: Fragment[] = [
  think('Hm'),
  think('.'),
  state('EqQB'),
  state('Zz', 'redacted'),
  say('Hel'),
  say('lo'),
  cite('https://a.example'),
  { type: 'break' },
  say('There'),
  { type: 'refusal', text: 'No.' },
  think('More.'),
  ...call(0, 'weather', '{"a"', ':1}'),
  ...call(1, 'now'),
  ...call(2, 'patch', '{"input":', '"*** Begin"}'),
  ...finish,
];

type Sent = JsonObject & { readonly type: string };
interface Written {
  readonly stream: string;
  readonly events: Sent[];
  readonly whole: JsonObject;
  readonly reply: CompleteReply;
}

/** Events of a stream, each checked for its frame and its schema. */
function readStream(stream: string): Sent[] {
  const blocks = stream.split('\n\n');
  expect(blocks.pop()).toBe('');
  return blocks.map((block) => {
    const [name, data, ...rest] = block.split('\n');
    expect(rest).toEqual([]);
    const event = JSON.parse(String(data).slice('data: '.length)) as Sent;
    expect(name).toBe(`event: ${event.type}`);
    expect(faults(eventSchema[event.type] ?? { not: {} }, event)).toBeUndefined();
    return event;
  });
}

/** The stream and the whole reply that a client gets, both checked for their schemas. */
function write(fragments: readonly Fragment[]): Written {
  const guard = new GrammarGuard({
    toolNames: new ToolNames({ tools: [patch], items: [] }, commonNameRules),
    tagState: (kind, data) => tagState({ kind, origin, data }),
    exchangeId: 'x',
    estimateInputTokens: () => 25,
  });
  const encoder = messagesCodec.createEncoder(context);
  const stream = fragments
    .flatMap((fragment) => guard.push([fragment]))
    .map((event) => encoder.encodeEvent(event))
    .join('');
  const { reply } = guard;
  if (reply === undefined) throw new Error('the reply is not complete');
  const whole = JSON.parse(JSON.stringify(messagesCodec.createEncoder(context).encodeWhole(reply))) as JsonObject;
  expect(faults(wholeReplySchema, whole)).toBeUndefined();
  return { stream, events: readStream(stream), whole, reply };
}

/** What the stream of the anthropic SDK makes of a stream. */
async function helped(stream: string): Promise<Anthropic.Message> {
  const headers = { 'content-type': 'text/event-stream' };
  const client = new Anthropic({
    apiKey: 'k',
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(stream, { headers })),
  });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hi' }];
  return await client.messages.stream({ model: 'm', max_tokens: 10, messages }).finalMessage();
}

const shortly = ({ type, index, delta }: Sent): string =>
  [type.replace('content_block_', ''), index, isJsonObject(delta) ? delta['type'] : undefined]
    .filter((part) => part !== undefined)
    .join(' ');

const contentOf = (...fragments: Fragment[]) => write([...fragments, ...finish]).whole['content'];
const stopped = (stopSequence?: string): Fragment[] => [
  say('x'),
  { type: 'finish', reason: 'stop_sequence', stopSequence },
  { type: 'end' },
];

describe('encoding a Messages stream', () => {
  it('a Messages stream opens the message, fills its blocks one by one, and closes it', () => {
    const { events } = write([say('Hi'), ...finish]);
    expect(events).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'msg_req1',
          type: 'message',
          role: 'assistant',
          model: 'asked-for',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          container: null,
          diagnostics: null,
          // The upstream counts at its end: until then a guess.
          usage: {
            input_tokens: 25,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
            output_tokens: 1,
            output_tokens_details: { thinking_tokens: 0 },
            server_tool_use: null,
            cache_creation: null,
            inference_geo: null,
            service_tier: null,
            speed: null,
          },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { container: null, stop_reason: 'end_turn', stop_sequence: null, stop_details: null },
        usage: {
          input_tokens: 13,
          cache_creation_input_tokens: 2,
          cache_read_input_tokens: 5,
          output_tokens: 9,
          output_tokens_details: { thinking_tokens: 3 },
          server_tool_use: null,
        },
      },
      { type: 'message_stop' },
    ]);
  });

  it('the first event of a Messages stream has the counts known by then', () => {
    const [start] = write([counted({ input: 50, cacheRead: 40 }), say('Hi'), ...finish]).events;
    expect(start).toMatchObject({
      message: { usage: { input_tokens: 10, cache_read_input_tokens: 40, output_tokens: 1 } },
    });
  });

  it('a Messages stream has dense indexes, one signature at the end of thinking, and nothing empty', () => {
    expect(write(everything).events.map(shortly)).toEqual(
      [
        'message_start',
        ['start 0', 'delta 0 thinking_delta', 'delta 0 thinking_delta', 'delta 0 signature_delta', 'stop 0'],
        ['start 1', 'stop 1'],
        ['start 2', 'delta 2 text_delta', 'delta 2 text_delta', 'delta 2 citations_delta', 'stop 2'],
        ['start 3', 'delta 3 text_delta', 'stop 3'],
        ['start 4', 'delta 4 text_delta', 'stop 4'],
        ['start 5', 'delta 5 thinking_delta', 'delta 5 signature_delta', 'stop 5'],
        ['start 6', 'delta 6 input_json_delta', 'delta 6 input_json_delta', 'stop 6'],
        ['start 7', 'delta 7 input_json_delta', 'stop 7'],
        ['start 8', 'delta 8 input_json_delta', 'stop 8'],
        'message_delta',
        'message_stop',
      ].flat(),
    );
  });

  it('the Anthropic SDK reads the same message from a stream and a whole reply', async () => {
    const { stream, whole } = write(everything);
    expect(await helped(stream)).toMatchObject(whole);
  });

  it('a Messages stream ends with an error in the shape of the format', async () => {
    const encoder = messagesCodec.createEncoder(context);
    const failure = encoder.encodeFailure(new GatewayError('upstream_failed', 'it broke'));
    expect(readStream(failure)).toMatchObject([{ type: 'error', request_id: 'req_req1' }]);
    await expect(helped(failure)).rejects.toThrow('it broke');
  });
});

describe('encoding Messages blocks', () => {
  it('a Messages thinking block has text and a signature tagged with its origin', () => {
    expect(contentOf(think('Hm.'), state('EqQB'), state('Zz', 'redacted'), think('So.'), say('Hi'))).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'dps1s0a1b2c3d.EqQB' },
      { type: 'redacted_thinking', data: 'dps1x0a1b2c3d.Zz' },
      { type: 'thinking', thinking: 'So.', signature: 'dps1n0a1b2c3d.' },
      { type: 'text', text: 'Hi' },
    ]);
  });

  it('a Messages text without citations has no member for them, which AI SDK 5 refuses as null', () => {
    const { events, whole } = write([say('Hi'), ...finish]);
    expect(whole['content']).toEqual([{ type: 'text', text: 'Hi' }]);
    expect(events[1]?.['content_block']).toEqual({ type: 'text', text: '' });
  });

  it('redacted thinking becomes a Messages block without text', () => {
    const { events, whole } = write([state('EqQB'), state('AwQ=', 'thought'), say('Hi'), ...finish]);
    expect(whole['content']).toMatchObject([
      { type: 'thinking', thinking: '', signature: 'dps1s0a1b2c3d.EqQB' },
      { type: 'thinking', thinking: '', signature: 'dps1t0a1b2c3d.AwQ=' },
      {},
    ]);
    expect(events.slice(1, 4).map(shortly)).toEqual(['start 0', 'delta 0 signature_delta', 'stop 0']);
  });

  it('input of a Messages call is an object, whatever the model wrote', () => {
    const caller = { type: 'direct' };
    expect(
      contentOf(...call(0, 'a', '{"x":1}'), ...call(1, 'b'), ...call(2, 'c', '{"x":'), ...call(3, 'patch', '*** B')),
    ).toEqual([
      { type: 'tool_use', id: 'toolu_0', name: 'a', input: { x: 1 }, caller },
      { type: 'tool_use', id: 'toolu_1', name: 'b', input: {}, caller },
      { type: 'tool_use', id: 'toolu_2', name: 'c', input: { _raw: '{"x":' }, caller },
      { type: 'tool_use', id: 'toolu_3', name: 'patch', input: { input: '*** B' }, caller },
    ]);
  });

  it.each(['nonsense', '5', '[1,2]', '"str"', 'null', ' 5', '"{}"'])(
    'a Messages call with the input %j has the same object streamed and whole',
    async (input) => {
      const content = [{ type: 'tool_use', id: 'toolu_0', name: 'a', input: { _raw: input } }];
      const { stream, whole } = write([...call(0, 'a', ...input), ...finish]);
      expect(whole).toMatchObject({ content });
      expect(await helped(stream)).toMatchObject({ content });
    },
  );

  it('input of a Messages call is streamed as it arrives once an object has begun', () => {
    const { events } = write([...call(0, 'a', ' ', ' {', '"x"', ':1}'), ...finish]);
    const pieces = events.flatMap(({ delta }) => (isJsonObject(delta) ? (delta['partial_json'] ?? []) : []));
    expect(pieces).toEqual([' {', '"x"', ':1}']);
  });

  it('a Messages text block has citations', () => {
    expect(contentOf(say('Hi'), cite('https://a.example'))).toEqual([
      {
        type: 'text',
        text: 'Hi',
        citations: [
          {
            type: 'web_search_result_location',
            url: 'https://a.example',
            title: null,
            encrypted_index: '',
            cited_text: 'Words',
          },
        ],
      },
    ]);
  });

  it('a Messages answer may have no blocks', () => {
    const { whole, events } = write([counted({ output: 1 }), ...finish]);
    expect(whole['content']).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(['message_start', 'message_delta', 'message_stop']);
  });
});

describe('encoding the end of a Messages answer', () => {
  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['context_length', 'model_context_window_exceeded'],
    ['content_filter', 'refusal'],
    ['pause', 'pause_turn'],
  ] as const)('by %s is %s', (reason, stop_reason) => {
    const { whole, events } = write([say('x'), { type: 'finish', reason }, { type: 'end' }]);
    expect(whole).toMatchObject({ stop_reason, stop_sequence: null });
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason, stop_sequence: null } });
  });

  it('a Messages answer that ends with calls has the stop reason tool_use', () => {
    expect(write([...call(0, 'a'), ...finish]).whole).toMatchObject({ stop_reason: 'tool_use' });
  });

  it('a Messages answer reports the stop sequence if it is known', () => {
    const ending = { stop_reason: 'stop_sequence', stop_sequence: 'END' };
    expect(write(stopped('END')).whole).toMatchObject(ending);
    expect(write(stopped('END')).events.at(-2)).toMatchObject({ delta: ending });
    expect(write(stopped()).whole).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: null });
  });

  it('a refused Messages answer has the stop reason refusal and its text', () => {
    const { whole, events } = write([{ type: 'refusal', text: 'No.' }, ...finish]);
    const ending = {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'No.' },
    };
    expect(whole).toMatchObject({ content: [{ type: 'text', text: 'No.' }], ...ending });
    expect(events.at(-2)).toMatchObject({ delta: ending });
  });
});

describe('thinking that a Messages client sends back', () => {
  it('Messages thinking keeps its signature from the reply to the next request', () => {
    const { content } = write(everything).whole as { content: JsonObject[] };
    const { items } = decode({ messages: [hello, { role: 'assistant', content }] }).conversation;
    expect(items.filter(({ type }) => type === 'reasoning')).toEqual([
      { type: 'reasoning', text: 'Hm.', state: { kind: 'signature', origin, data: 'EqQB' } },
      { type: 'reasoning', text: '', state: { kind: 'redacted', origin, data: 'Zz' } },
      { type: 'reasoning', text: 'More.', state: { kind: 'none', origin, data: '' } },
    ]);
  });
});

describe('encoding arbitrary replies as Messages', () => {
  const words = fc.string({ minLength: 1 });
  const piece: fc.Arbitrary<Fragment> = fc.oneof(
    words.map(say),
    words.map(think),
    words.map((text): Fragment => ({ type: 'refusal', text })),
    words.map((data) => state(data)),
    words.map((data) => state(data, 'redacted')),
    fc.constant<Fragment>({ type: 'break' }),
    fc.constant(cite('https://a.example')),
    fc
      .record({ key: fc.nat(2), name: fc.constantFrom('a', 'patch') })
      .map(({ key, name }): Fragment => ({ type: 'call', key, id: `toolu_${key}`, name })),
    fc.record({ key: fc.nat(2), text: fc.string() }).map((input): Fragment => ({ type: 'input', ...input })),
  );

  it('a Messages reply fits the schemas, and the Anthropic SDK reads the same streamed and whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 12 }), async (pieces) => {
        const { stream, whole, reply } = write([counted({ output: 1 }), ...pieces, ...finish]);
        // The SDK refuses objects that are no JSON; they come from models that are cut off.
        const isBroken = (whole['content'] as JsonObject[]).some(
          ({ input }) => isJsonObject(input) && String(input['_raw']).trimStart().startsWith('{'),
        );
        if (!isBroken) expect(await helped(stream)).toMatchObject(whole);
        expect(reply.blocks).toHaveLength((whole['content'] as unknown[]).length);
      }),
      { numRuns: 100 },
    );
  });
});
