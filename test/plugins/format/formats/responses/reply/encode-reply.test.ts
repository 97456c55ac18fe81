import { Ajv } from 'ajv';
import fc from 'fast-check';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import type { ReplyContext } from '../../../../../../plugins/format/canonical/codec.ts';
import { GrammarGuard } from '../../../../../../plugins/format/canonical/guard.ts';
import {
  type Block,
  type CompleteReply,
  contentOf,
  type Fragment,
  type ReplyEvent,
} from '../../../../../../plugins/format/canonical/reply.ts';
import { commonNameRules, ToolNames } from '../../../../../../plugins/format/canonical/tool-names.ts';
import { responsesCodec } from '../../../../../../plugins/format/formats/responses/codec.ts';
import { runs } from '../../../../../support/runs.ts';
import { eventSchema, wholeReplySchema } from '../../../../../support/schemas/responses.ts';

const ajv = new Ajv({ strict: false, allErrors: true });
const isWholeReply = ajv.compile(wholeReplySchema);
const eventChecks = new Map(Object.entries(eventSchema).map(([type, schema]) => [type, ajv.compile(schema)]));

const context: ReplyContext = { id: 'req1', model: 'asked-for', created: 1_700_000_000, request: {} };

beforeEach(() => vi.useFakeTimers({ now: 1_700_000_005_000, toFake: ['Date'] }));
afterEach(() => vi.useRealTimers());

function repliedTo(fragments: readonly Fragment[]): { events: ReplyEvent[]; reply: CompleteReply } {
  const guard = new GrammarGuard({
    toolNames: new ToolNames({ tools: [], items: [] }, commonNameRules),
    tagState: (kind, data) => `dps1:${kind}:${data}`,
    exchangeId: 'x',
    estimateInputTokens: () => 25,
  });
  const events = guard.push([...fragments, { type: 'finish', reason: 'stop' }, { type: 'end' }]);
  if (guard.reply === undefined) throw new Error('the reply is not complete');
  return { events, reply: guard.reply };
}

function streamOf(events: readonly ReplyEvent[], more: Partial<ReplyContext> = {}): string {
  const encoder = responsesCodec.createEncoder({ ...context, ...more });
  return events.map((event) => encoder.encodeEvent(event)).join('');
}

type Sent = JsonObject & { type: string };

/** Events of a stream, each checked for its frame and its schema. */
function readStream(stream: string): Sent[] {
  const blocks = stream.split('\n\n');
  expect(blocks.pop()).toBe('');
  return blocks.map((block) => {
    const [name, data, ...rest] = block.split('\n');
    expect(rest).toEqual([]);
    const event = JSON.parse(String(data).slice('data: '.length)) as Sent;
    expect(name).toBe(`event: ${event.type}`);
    const check = eventChecks.get(event.type);
    expect(check, event.type).toBeDefined();
    if (check?.(event) !== true) throw new Error(`${event.type}: ${ajv.errorsText(check?.errors)}\n${data}`);
    return event;
  });
}

function wholeOf(reply: CompleteReply, request: JsonObject = {}): JsonObject {
  const body = responsesCodec.createEncoder({ ...context, request }).encodeWhole(reply);
  const travelled = JSON.parse(JSON.stringify(body)) as JsonObject;
  if (!isWholeReply(travelled)) throw new Error(ajv.errorsText(isWholeReply.errors));
  return travelled;
}

const everything: readonly Fragment[] = [
  { type: 'reasoning', text: 'Let me ' },
  { type: 'reasoning', text: 'see.' },
  { type: 'reasoning_state', kind: 'signature', data: 'EqQB' },
  { type: 'text', text: 'Hello' },
  { type: 'citation', citation: { url: 'https://e.com', title: undefined, quote: 'q', start: 0, end: 5 } },
  { type: 'text', text: ' you' },
  { type: 'call', key: 0, id: 'call_1', name: 'look' },
  { type: 'input', key: 0, text: '{"at":' },
  { type: 'input', key: 0, text: '"sky"}' },
  { type: 'call_end', key: 0 },
  { type: 'call', key: 1, id: 'call_2', name: 'wait', namespace: 'clock' },
  { type: 'call_end', key: 1 },
  { type: 'call', key: 2, id: 'call_3', name: 'patch', form: 'freeform' },
  { type: 'input', key: 2, text: '*** Begin' },
  { type: 'call_end', key: 2 },
  { type: 'call', key: 3, id: 'call_4', name: 'tool_search', form: 'tool_search' },
  { type: 'input', key: 3, text: '{"query":"mail"}' },
  { type: 'call_end', key: 3 },
  { type: 'refusal', text: 'No more.' },
  { type: 'usage', usage: { input: 20, output: 9, cacheRead: 5, cacheWrite: 2, reasoning: 3 } },
];

const types = (fragments: readonly Fragment[]) =>
  readStream(streamOf(repliedTo(fragments).events)).map(({ type }) => type.slice('response.'.length));

describe('encoding a Responses stream', () => {
  it('a Responses stream opens, fills and closes a message', () => {
    expect(types([{ type: 'text', text: 'Hello' }])).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
  });

  it('Responses reasoning is written as a summary, with its state at the end', () => {
    const events = readStream(streamOf(repliedTo(everything.slice(0, 3)).events));
    expect(events.slice(2, -1).map(({ type }) => type)).toEqual([
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
    ]);
    expect(events[2]?.['item']).not.toHaveProperty('encrypted_content');
    expect(events.at(-2)).toMatchObject({ item: { encrypted_content: 'dps1:signature:EqQB' } });
  });

  it('Responses reasoning without text has no summary', () => {
    expect(types([{ type: 'reasoning_state', kind: 'redacted', data: 'x' }])).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'output_item.done',
      'completed',
    ]);
  });

  it('each kind of Responses call has its own events', () => {
    expect(types(everything.slice(6, 18)).slice(2, -1)).toEqual([
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
      'output_item.added',
      'output_item.done',
    ]);
  });

  it('events of a Responses stream are numbered without gaps, and items from 0', () => {
    const events = readStream(streamOf(repliedTo(everything).events));
    expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, index) => index));
    const added = events.filter(({ type }) => type === 'response.output_item.added');
    expect(added.map((event) => event['output_index'])).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('a Responses stream ends with the streamed items, each with one id', () => {
    const events = readStream(streamOf(repliedTo(everything).events));
    const done = events.filter(({ type }) => type === 'response.output_item.done').map((event) => event['item']);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { output: done } });
    const ids = done.map((item) => (isJsonObject(item) ? item['id'] : undefined));
    for (const event of events) {
      const id = event['item_id'] ?? (isJsonObject(event['item']) ? event['item']['id'] : undefined);
      if (id !== undefined) expect(id).toBe(ids[Number(event['output_index'])]);
    }
  });

  it('a Responses stream ends with the same response as a whole reply', () => {
    const { events, reply } = repliedTo(everything);
    expect(readStream(streamOf(events)).at(-1)?.['response']).toEqual(wholeOf(reply));
  });

  it('a failed Responses stream has its finished items, the open item, and the usage', () => {
    const { events } = repliedTo(everything);
    const encoder = responsesCodec.createEncoder(context);
    const stream = events.slice(0, 9).map((event) => encoder.encodeEvent(event));
    const sent = readStream(
      stream.join('') + encoder.encodeFailure(new GatewayError('upstream_failed', 'cut off'), { input: 7, output: 3 }),
    );
    expect(sent.at(-1)).toMatchObject({
      type: 'response.failed',
      sequence_number: sent.length - 1,
      response: {
        id: 'resp_req1',
        status: 'failed',
        error: { code: 'server_error', message: expect.stringMatching(/ cut off$/) },
        output: [{ type: 'reasoning' }, { type: 'message', status: 'incomplete', content: [{ text: 'Hello you' }] }],
        usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
      },
    });
  });

  it.each([
    ['message', [{ type: 'text', text: 'Hel' }]],
    [
      'function_call',
      [
        { type: 'call', key: 0, id: 'call_0', name: 'now' },
        { type: 'input', key: 0, text: '{"a' },
      ],
    ],
  ] as const)('that is cut off in a %s says so of that item alone, streamed and whole', (type, cut) => {
    const { events, reply } = repliedTo([
      { type: 'text', text: 'First' },
      { type: 'break' },
      ...cut,
      { type: 'finish', reason: 'length' },
      { type: 'end' },
    ]);
    const expected = { output: [{ status: 'completed' }, { type, status: 'incomplete' }] };
    expect(wholeOf(reply)).toMatchObject(expected);
    expect(readStream(streamOf(events)).at(-1)).toMatchObject({ response: expected });
  });

  it('the OpenAI SDK reads a Responses stream', async () => {
    vi.useRealTimers();
    const { events, reply } = repliedTo(everything);
    const fetch = async () => new Response(streamOf(events), { headers: { 'content-type': 'text/event-stream' } });
    const client = new OpenAI({ apiKey: 'k', baseURL: 'http://localhost/v1', fetch });
    const final = await client.responses.stream({ model: 'm', input: 'Hi' }).finalResponse();
    expect(final.output_text).toBe('Hello you');
    expect(final.output).toMatchObject(wholeOf(reply)['output'] as JsonObject[]);
    expect(final.usage?.total_tokens).toBe(29);
  });
});

describe('encoding Responses items', () => {
  const { reply } = repliedTo(everything);

  it('Responses items have the shapes that clients expect', () => {
    expect(wholeOf(reply)['output']).toMatchObject([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see.' }] },
      {
        type: 'message',
        content: [
          {
            type: 'output_text',
            text: 'Hello you',
            annotations: [{ type: 'url_citation', url: 'https://e.com', title: 'https://e.com', end_index: 5 }],
          },
        ],
      },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"sky"}' },
      { type: 'function_call', call_id: 'call_2', name: 'wait', namespace: 'clock', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'call_3', name: 'patch', input: '*** Begin' },
      { type: 'tool_search_call', call_id: 'call_4', execution: 'client', arguments: { query: 'mail' } },
      { type: 'message', content: [{ type: 'refusal', refusal: 'No more.' }] },
    ]);
  });

  it('ids of Responses items differ from those of calls', () => {
    const items = wholeOf(reply)['output'] as JsonObject[];
    expect(new Set(items.map((item) => item['id'])).size).toBe(items.length);
    for (const item of items) expect(item['id']).not.toBe(item['call_id']);
  });
});

const answer = (finish: CompleteReply['finish'], block: Block = { type: 'text', text: 'Hi', citations: [] }) => ({
  ...repliedTo([{ type: 'text', text: 'Hi' }]).reply,
  finish,
  blocks: [block],
});

describe('encoding a Responses response object', () => {
  it('a Responses response has all defaults that the request omits', () => {
    expect(wholeOf(answer('stop'))).toMatchObject({
      id: 'resp_req1',
      created_at: 1_700_000_000,
      completed_at: 1_700_000_005,
      status: 'completed',
      model: 'asked-for',
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      service_tier: 'default',
      truncation: 'disabled',
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      store: true,
      metadata: {},
      parallel_tool_calls: true,
    });
  });

  it("a Responses response repeats the request's parameters", () => {
    const request = {
      instructions: 'Be kind.',
      store: false,
      temperature: 0.2,
      metadata: { a: 'b' },
      reasoning: { effort: 'high', summary: 'auto' },
      text: { verbosity: 'low' },
      tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }],
      tool_choice: { type: 'function', name: 'f' },
      parallel_tool_calls: false,
      prompt_cache_key: 'k',
      previous_response_id: 'resp_0',
    };
    expect(wholeOf(answer('stop'), request)).toMatchObject({
      ...request,
      text: { format: { type: 'text' }, verbosity: 'low' },
      tools: [
        { type: 'function', name: 'f', description: null, parameters: null, strict: null },
        { type: 'web_search' },
      ],
    });
  });

  it.each([
    ['stop', 'completed', null],
    ['stop_sequence', 'completed', null],
    ['tool_calls', 'completed', null],
    ['pause', 'incomplete', { reason: 'max_output_tokens' }],
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['context_length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'incomplete', { reason: 'content_filter' }],
  ] as const)('that ends with %s is %s', (finish, status, incomplete_details) => {
    expect(wholeOf(answer(finish))).toMatchObject({ status, incomplete_details });
  });

  it('a filtered Responses answer with a refusal is complete', () => {
    expect(wholeOf(answer('content_filter', { type: 'refusal', text: 'No.' }))).toMatchObject({ status: 'completed' });
  });

  it('Responses usage has every count', () => {
    expect(wholeOf(repliedTo(everything).reply)['usage']).toEqual({
      input_tokens: 20,
      input_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 29,
    });
  });
});

/** What a client gets to see of a block. */
function visible(block: Block): unknown {
  if (block.type !== 'tool_call') return [block.type, contentOf(block)];
  // What is no object cannot be searched for.
  return [block.form, block.id, block.form === 'tool_search' ? '' : block.input];
}

describe('encoding arbitrary replies as Responses', () => {
  const words = fc.string({ minLength: 1 });
  const fragment: fc.Arbitrary<Fragment[]> = fc.oneof(
    words.map((text): Fragment[] => [{ type: 'text', text }]),
    words.map((text): Fragment[] => [{ type: 'refusal', text }]),
    words.map((text): Fragment[] => [{ type: 'reasoning', text }]),
    words.map((data): Fragment[] => [{ type: 'reasoning_state', kind: 'encrypted', data }]),
    fc.constant<Fragment[]>([{ type: 'break' }]),
    fc
      .tuple(fc.nat(5), fc.constantFrom('function', 'freeform', 'tool_search'), words)
      .map(([key, form, text]): Fragment[] => [
        { type: 'call', key, id: `call_${key}`, name: 'f', form },
        { type: 'input', key, text },
      ]),
  );

  it('a Responses reply is the same streamed and whole, fits the schemas, and is decoded to the original', () => {
    fc.assert(
      fc.property(fc.array(fragment, { minLength: 1 }), (parts) => {
        const { events, reply } = repliedTo([...parts.flat(), { type: 'usage', usage: { output: 1 } }]);
        const sent = readStream(streamOf(events));
        expect(sent.at(-1)?.['response']).toEqual(wholeOf(reply));
        expect(sent.map((event) => event['sequence_number'])).toEqual(sent.map((_, index) => index));
        const decoder = responsesCodec.createDecoder();
        const back = sent.flatMap((event) => decoder.readEvent(event.type, JSON.stringify(event)));
        const again = repliedTo(back).reply;
        expect(again.blocks.map(visible)).toEqual(reply.blocks.map(visible));
      }),
      runs(60),
    );
  });
});
