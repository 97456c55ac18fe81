import { describe, expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { openCall } from '../../../../plugins/format/routes/model-call.ts';
import type { TextFormat } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { modelOf } from '../catalog/catalog-fixture.ts';
import { exchange, requestOf } from '../invariants/fixture.ts';

/** Formats whose calls have ids. */
type Format = Exclude<TextFormat, 'gemini'>;
const formats = ['chat', 'responses', 'messages'] as const satisfies readonly Format[];
const pairs = formats.flatMap((client) => formats.map((upstream) => [client, upstream] as const));

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

const call = (id: string, name: string, args = '{}'): Call => ({ id, name, args });
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const head = { id: 'chatcmpl-1', created: 7, model: 'there' };
const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
});
const chatCall = ({ id, name, args }: Call, index?: number) => ({
  ...(index !== undefined && { index }),
  id,
  type: 'function',
  function: { name, arguments: args },
});
const item = ({ id, name, args }: Call, index: number) => ({
  id: `fc_${index}`,
  type: 'function_call',
  status: 'completed',
  call_id: id,
  name,
  arguments: args,
});
const block = ({ id, name, args }: Call) => ({ type: 'tool_use', id, name, input: JSON.parse(args) as JsonObject });
const response = (output: JsonObject[], status = 'completed') => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  model: 'there',
  output,
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});
const messageUsage = { input_tokens: 1, output_tokens: 1 };

/** A whole answer with these calls. */
const wholes: Readonly<Record<Format, (calls: readonly Call[]) => JsonObject>> = {
  chat: (calls) => ({
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, tool_calls: calls.map((one) => chatCall(one)) },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  }),
  responses: (calls) => response(calls.map(item)),
  messages: (calls) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'there',
    content: calls.map(block),
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: messageUsage,
  }),
};

/** The same as events, each call after the other. */
const streams: Readonly<Record<Format, (calls: readonly Call[]) => JsonObject[]>> = {
  chat: (calls) => [
    chunk({ role: 'assistant', content: null }),
    ...calls.flatMap((one, index) => [
      chunk({ tool_calls: [chatCall({ ...one, args: '' }, index)] }),
      chunk({ tool_calls: [{ index, function: { arguments: one.args } }] }),
    ]),
    { ...chunk({}, 'tool_calls'), usage },
  ],
  responses: (calls) => [
    { type: 'response.created', response: response([], 'in_progress') },
    ...calls.flatMap((one, index) => [
      {
        type: 'response.output_item.added',
        output_index: index,
        item: { ...item(one, index), status: 'in_progress', arguments: '' },
      },
      {
        type: 'response.function_call_arguments.delta',
        item_id: `fc_${index}`,
        output_index: index,
        delta: one.args,
      },
      {
        type: 'response.function_call_arguments.done',
        item_id: `fc_${index}`,
        output_index: index,
        arguments: one.args,
      },
      { type: 'response.output_item.done', output_index: index, item: item(one, index) },
    ]),
    { type: 'response.completed', response: response(calls.map(item)) },
  ],
  messages: (calls) => [
    {
      type: 'message_start',
      message: { ...wholes.messages([]), stop_reason: null },
    },
    ...calls.flatMap((one, index) => [
      { type: 'content_block_start', index, content_block: { ...block(one), input: {} } },
      { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: one.args } },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: messageUsage },
    { type: 'message_stop' },
  ],
};

const asked: Readonly<Record<Format, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'go' }] },
  responses: { input: 'go' },
  messages: { max_tokens: 9, messages: [{ role: 'user', content: 'go' }] },
};

function readerOf(client: Format, upstream: Format, isStream: boolean) {
  const route = routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: [upstream] }), { profile: mergeProfiles() });
  const request = requestOf(client, { model: 'test', ...asked[client], stream: isStream }).with({ isStream });
  const opened = openCall(exchange, modelOf('test', [], { routes: [route] }), request);
  return opened.read(opened.model.routes[0] ?? route);
}

function bytesOf(upstream: Format, events: readonly JsonObject[]): Buffer {
  const named = events.map(
    (event) => `${upstream === 'chat' ? '' : `event: ${String(event['type'])}\n`}data: ${JSON.stringify(event)}\n\n`,
  );
  return Buffer.from(named.join('') + (upstream === 'chat' ? 'data: [DONE]\n\n' : ''));
}

const dataIn = (bytes: string): JsonObject[] =>
  bytes
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as JsonObject);
const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const objectOf = (value: unknown): JsonObject => (isJsonObject(value as never) ? (value as JsonObject) : {});

/** The calls that a client reads in a whole answer. */
const read: Readonly<Record<Format, (body: JsonObject) => Call[]>> = {
  chat: (body) =>
    listOf(objectOf(listOf(body['choices'])[0]?.['message'])['tool_calls']).map((one) => {
      const { name, arguments: args } = objectOf(one['function']);
      return call(String(one['id']), String(name), String(args));
    }),
  responses: (body) =>
    listOf(body['output'])
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id: id, name, arguments: args }) => call(String(id), String(name), String(args))),
  messages: (body) =>
    listOf(body['content'])
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => call(String(id), String(name), JSON.stringify(input))),
};

/** The same in a stream, as SDKs put it together: by index. */
const readStream: Readonly<Record<Format, (events: readonly JsonObject[]) => Call[]>> = {
  chat: (events) => {
    const calls: { id: string; name: string; args: string }[] = [];
    for (const event of events) {
      for (const one of listOf(objectOf(listOf(event['choices'])[0]?.['delta'])['tool_calls'])) {
        const { name = '', arguments: args = '' } = objectOf(one['function']);
        const known = (calls[Number(one['index'])] ??= { id: '', name: '', args: '' });
        known.id += String(one['id'] ?? '');
        known.name += String(name);
        known.args += String(args);
      }
    }
    return calls;
  },
  responses: (events) => {
    const done = events
      .filter(({ type }) => type === 'response.output_item.done')
      .map((event) => objectOf(event['item']));
    const ended = events.findLast(({ type }) => type === 'response.completed');
    const streamed = read.responses({ output: done });
    expect(read.responses(objectOf(ended?.['response']))).toEqual(streamed);
    const added = events
      .filter(({ type }) => type === 'response.output_item.added')
      .map((event) => objectOf(event['item']));
    expect(read.responses({ output: added }).map(({ id }) => id)).toEqual(streamed.map(({ id }) => id));
    return streamed;
  },
  messages: (events) => {
    const calls = new Map<unknown, { id: string; name: string; args: string }>();
    for (const event of events) {
      const { id, name, type } = objectOf(event['content_block']);
      if (type === 'tool_use') calls.set(event['index'], { id: String(id), name: String(name), args: '' });
      const known = calls.get(event['index']);
      if (known !== undefined) known.args += String(objectOf(event['delta'])['partial_json'] ?? '');
    }
    return [...calls.values()];
  },
};

const whole = (client: Format, upstream: Format, calls: readonly Call[]): Call[] => {
  const { body } = readerOf(client, upstream, false).whole(
    Buffer.from(JSON.stringify(wholes[upstream](calls))),
    'application/json',
  );
  return read[client](JSON.parse(body.toString()) as JsonObject);
};
const streamOf = (client: Format, upstream: Format, events: readonly JsonObject[]): Call[] => {
  const reader = readerOf(client, upstream, true);
  const bytes = reader.push(bytesOf(upstream, events)).toString() + reader.end().toString();
  expect(reader.failure).toBeUndefined();
  return readStream[client](dataIn(bytes));
};
const streamed = (client: Format, upstream: Format, calls: readonly Call[]): Call[] =>
  streamOf(client, upstream, streams[upstream](calls));

describe.each(pairs)('a %s client of a %s upstream', (client, upstream) => {
  it.each([
    ['another name', [call('d', 'a'), call('d', 'b')], ['d', 'd_2']],
    ['other arguments', [call('d', 'a', '{"x":1}'), call('d', 'a', '{"x":2}')], ['d', 'd_2']],
    ['others between them', [call('d', 'a'), call('e', 'a'), call('d', 'b'), call('d', 'c')], ['d', 'e', 'd_2', 'd_3']],
  ] as const)('gets two calls with one id under two ids: %s', (_what, calls, ids) => {
    const expected = calls.map((one, index) => ({ ...one, id: ids[index] }));
    expect(whole(client, upstream, calls)).toEqual(expected);
    expect(streamed(client, upstream, calls)).toEqual(expected);
  });

  it('gets unique ids as they came', () => {
    const calls = [call('call_1', 'a'), call('toolu_2', 'a')];
    expect([whole(client, upstream, calls), streamed(client, upstream, calls)]).toEqual([calls, calls]);
  });

  it('gets a whole call that is repeated once', () => {
    const calls = [call('d', 'a', '{"x":1}'), call('d', 'a', '{"x":1}'), call('d', 'b')];
    const expected = [calls[0], { ...calls[2], id: 'd_2' }];
    // The blocks of a Messages answer are calls, each of them, where they pass through.
    if (client === 'messages' && upstream === 'messages') return;
    expect(whole(client, upstream, calls)).toEqual(expected);
  });
});

describe.each(formats)('ids for a Messages client of a %s upstream', (upstream) => {
  it('ids that Anthropic refuses become others, the same streamed and whole', () => {
    const calls = [call('functions.Bash:0', 'a'), call('functions.Bash:0', 'b'), call('toolu_1', 'c')];
    const got = whole('messages', upstream, calls);
    expect(got.every(({ id }) => /^[a-zA-Z0-9_-]+$/.test(id))).toBe(true);
    expect(new Set(got.map(({ id }) => id)).size).toBe(3);
    expect(got[2]?.id).toBe('toolu_1');
    expect(streamed('messages', upstream, calls)).toEqual(got);
  });
});

it.each(formats)('the end of a Chat stream that repeats its calls adds none: %s', (client) => {
  const calls = [call('d', 'a', '{"x":1}'), call('d', 'a', '{"x":2}'), call('d', 'b')];
  const events = streams.chat(calls);
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: calls.map((one) => chatCall({ ...one, args: one.args.replace(':', ': ') })),
  };
  const repeated = {
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
  };
  expect(streamOf(client, 'chat', [...events.slice(0, -1), repeated]).map(({ id }) => id)).toEqual(['d', 'd_2', 'd_3']);
});

it.each(formats)('a Chat stream in which every call has the index 0 has calls of one id: %s', (client) => {
  const entries = [call('d', 'a', '{"x":1}'), call('d', 'a', '{"x":2}'), call('d', 'b', '{}'), call('d', 'b', '{}')];
  const events = [...entries.map((one) => chunk({ tool_calls: [chatCall(one, 0)] })), chunk({}, 'tool_calls')];
  expect(streamOf(client, 'chat', events)).toEqual([
    entries[0],
    { ...entries[1], id: 'd_2' },
    { ...entries[2], id: 'd_3' },
  ]);
});

it.each(formats)('calls of one id that come together stay two: %s', (client) => {
  const events = [
    chunk({ tool_calls: [chatCall(call('d', 'a', ''), 0), chatCall(call('d', 'a', ''), 1)] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] }),
    chunk({ tool_calls: [{ index: 1, function: { arguments: '{"x":' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
    chunk({ tool_calls: [{ index: 1, function: { arguments: '1}' } }] }),
    chunk({}, 'tool_calls'),
  ];
  expect(streamOf(client, 'chat', events)).toEqual([call('d', 'a', '{"x":1}'), call('d_2', 'a', '{"x":1}')]);
});

it('a Responses client of a Responses upstream gets a call that the stream repeats once', () => {
  const calls = [call('d', 'a', '{"x":1}'), call('d', 'a', '{"x": 1}'), call('d', 'a', '{"x":2}')];
  const expected = [calls[0], { ...calls[2], id: 'd_2' }];
  for (const client of formats) expect(streamed(client, 'responses', calls)).toEqual(expected);
});

it('a Chat client gets no id of null behind the first piece of a call', () => {
  const reader = readerOf('chat', 'chat', true);
  const piece = { index: 0, id: null, function: { arguments: '{}' } };
  const empty = { ...piece, id: '', function: { arguments: ' ' } };
  const events = [
    chunk({ tool_calls: [chatCall(call('d', 'a', ''), 0)] }),
    chunk({ tool_calls: [piece] }),
    chunk({ tool_calls: [empty] }),
    chunk({}, 'tool_calls'),
  ];
  const text = reader.push(bytesOf('chat', events)).toString();
  expect(text.match(/"id":(null|"")/)).toBeNull();
  expect(readStream.chat(dataIn(text))).toEqual([call('d', 'a', '{} ')]);
});
