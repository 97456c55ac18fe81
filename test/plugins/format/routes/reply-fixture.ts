import { expect } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { openCall } from '../../../../plugins/format/routes/model-call.ts';
import { type TextFormat, textFormats } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { modelOf } from '../catalog/catalog-fixture.ts';
import { exchange, requestOf } from '../invariants/fixture.ts';

/** Formats whose calls must have ids. */
export const formats = ['chat', 'responses', 'messages'] as const satisfies readonly TextFormat[];
export const pairs = textFormats.flatMap((client) => textFormats.map((upstream) => [client, upstream] as const));

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

export const call = (id: string, name: string, args = '{}'): Call => ({ id, name, args });
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
export const head = { id: 'chatcmpl-1', created: 7, model: 'there' };
export const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
});
export const chatCall = ({ id, name, args }: Call, index?: number) => ({
  ...(index !== undefined && { index }),
  id,
  type: 'function',
  function: { name, arguments: args },
});
export const item = ({ id, name, args }: Call, index: number) => ({
  id: `fc_${index}`,
  type: 'function_call',
  status: 'completed',
  call_id: id,
  name,
  arguments: args,
});
export const block = ({ id, name, args }: Call) => ({
  type: 'tool_use',
  id,
  name,
  input: JSON.parse(args) as JsonObject,
});
const response = (output: JsonObject[], status = 'completed') => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  model: 'there',
  output,
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});
const part = ({ id, name, args }: Call) => ({ functionCall: { id, name, args: JSON.parse(args) as JsonObject } });
export const parts = (given: JsonObject[], finishReason?: string) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: given }, ...(finishReason && { finishReason }) }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  modelVersion: 'there',
});
const messageUsage = { input_tokens: 1, output_tokens: 1 };

/** A whole answer with these calls. */
export const wholes: Readonly<Record<TextFormat, (calls: readonly Call[]) => JsonObject>> = {
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
  gemini: (calls) => parts(calls.map(part), 'STOP'),
};

/** The same as events, each call after the other. */
export const streams: Readonly<Record<TextFormat, (calls: readonly Call[]) => JsonObject[]>> = {
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
  gemini: (calls) => [...calls.map((one) => parts([part(one)])), parts([{ text: '' }], 'STOP')],
};

const asked: Readonly<Record<TextFormat, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'go' }] },
  responses: { input: 'go' },
  messages: { max_tokens: 9, messages: [{ role: 'user', content: 'go' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'go' }] }] },
};

export function readerOf(client: TextFormat, upstream: TextFormat, isStream: boolean) {
  const route = routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: [upstream] }), { profile: mergeProfiles() });
  const request = requestOf(client, { model: 'test', ...asked[client], stream: isStream }).with({ isStream });
  const opened = openCall(exchange, modelOf('test', [], { routes: [route] }), request);
  return opened.read(opened.model.routes[0] ?? route);
}

/** Formats whose events have no names. */
const nameless: ReadonlySet<TextFormat> = new Set(['chat', 'gemini']);

export function bytesOf(upstream: TextFormat, events: readonly JsonObject[]): Buffer {
  const named = events.map(
    (event) => `${nameless.has(upstream) ? '' : `event: ${String(event['type'])}\n`}data: ${JSON.stringify(event)}\n\n`,
  );
  return Buffer.from(named.join('') + (upstream === 'chat' ? 'data: [DONE]\n\n' : ''));
}

export const dataIn = (bytes: string): JsonObject[] =>
  bytes
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as JsonObject);
const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const objectOf = (value: unknown): JsonObject => (isJsonObject(value as never) ? (value as JsonObject) : {});

/** The calls that a client reads in a whole answer. */
const read: Readonly<Record<TextFormat, (body: JsonObject) => Call[]>> = {
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
  gemini: (body) =>
    listOf(objectOf(listOf(body['candidates'])[0]?.['content'])['parts'])
      .filter((one) => isJsonObject(one['functionCall'] as never))
      .map((one) => {
        const { id, name, args } = objectOf(one['functionCall']);
        return call(String(id), String(name), JSON.stringify(args));
      }),
};

/** The same in a stream, as SDKs put it together: by index. */
export const readStream: Readonly<Record<TextFormat, (events: readonly JsonObject[]) => Call[]>> = {
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
  gemini: (events) => events.flatMap((event) => read.gemini(event)),
};

/** The calls that a client reads in a whole answer of an upstream. */
export const readWhole = (client: TextFormat, upstream: TextFormat, answer: JsonObject): Call[] => {
  const { body } = readerOf(client, upstream, false).whole(Buffer.from(JSON.stringify(answer)), 'application/json');
  return read[client](JSON.parse(body.toString()) as JsonObject);
};
export const whole = (client: TextFormat, upstream: TextFormat, calls: readonly Call[]): Call[] =>
  readWhole(client, upstream, wholes[upstream](calls));
export const streamOf = (client: TextFormat, upstream: TextFormat, events: readonly JsonObject[]): Call[] => {
  const reader = readerOf(client, upstream, true);
  const bytes = reader.push(bytesOf(upstream, events)).toString() + reader.end().toString();
  expect(reader.failure).toBeUndefined();
  return readStream[client](dataIn(bytes));
};
export const streamed = (client: TextFormat, upstream: TextFormat, calls: readonly Call[]): Call[] =>
  streamOf(client, upstream, streams[upstream](calls));
