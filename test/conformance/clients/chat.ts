import type { JsonObject } from '#core/platform/json.ts';
import { errorSchema, eventSchema, eventType, wholeReplySchema } from '../../support/schemas/chat.ts';
import {
  type Call,
  compact,
  type End,
  isObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  parseInput,
  type Result,
  textOf,
  type Tool,
} from '../conversation.ts';
import { type ClientFormat, insist, type Question, type StreamEvent, type Written } from './client-format.ts';

/** Chat Completions, as the openai SDK sends and reads it. Source: OpenAI API reference, "Chat Completions". */
export const chatClient: ClientFormat = {
  path: () => '/v1/chat/completions',
  keyHeader: 'authorization',
  write: (question, { model, isStream }) =>
    compact({
      model,
      messages: writeMessages(question),
      tools: question.tools?.map(writeTool),
      parallel_tool_calls: question.isSerial === true ? false : undefined,
      reasoning_effort: question.effort,
      response_format: question.schema && {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: question.schema, strict: true },
      },
      stop: question.stop,
      max_completion_tokens: question.limit,
      stream: isStream,
      stream_options: isStream ? { include_usage: true } : undefined,
    }),
  fold,
  read(whole) {
    const [choice = {}] = objectsOf(whole['choices']);
    const message = objectOf(choice['message']);
    const refusal = textOf(message['refusal']);
    return {
      text: textOf(message['content']) + refusal,
      thought: textOf(message['reasoning_content']),
      calls: objectsOf(message['tool_calls']).map(readCall),
      end: refusal === '' ? ends[textOf(choice['finish_reason'])] : 'withheld',
      stopSequence: undefined,
      usage: readUsage(whole['usage']),
    };
  },
  echo(whole, forgets) {
    const message = objectOf(objectsOf(whole['choices'])[0]?.['message']);
    if (!forgets) return [message];
    const { reasoning_content: _text, reasoning_details: _details, ...official } = message;
    return [official];
  },
  failures: {
    overflow: { error: { code: 'context_length_exceeded', type: 'invalid_request_error' } },
    'rate limit': { error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' } },
    'bad key': { error: { code: 'upstream_account_rejected', type: 'upstream_account_error' } },
  },
  schemas: { whole: wholeReplySchema, error: errorSchema, eventType, events: eventSchema },
  cannotSay: (feature) => feature === 'image in a tool result',
  echoLosesThoughts: true,
  hasSerialCalls: true,
  hasErrorFlag: false,
  tellsStop: false,
};

const ends: Readonly<Record<string, End>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'calls',
  content_filter: 'withheld',
};

function writeMessages({ system, entries }: Question): JsonObject[] {
  const messages: JsonObject[] = system === undefined ? [] : [{ role: 'system', content: system }];
  for (const entry of entries) {
    const last = messages.at(-1);
    if (entry.type === 'echo') messages.push(...entry.raw);
    else if (entry.type === 'result') messages.push(writeResult(entry));
    else if (last?.['role'] === 'user' && Array.isArray(last['content'])) last['content'].push(writePart(entry));
    else messages.push({ role: 'user', content: [writePart(entry)] });
  }
  return messages;
}

function writePart(entry: Written): JsonObject {
  if (entry.type === 'text') return { type: 'text', text: entry.text };
  insist(entry.type === 'image', `a user cannot say a ${entry.type}`);
  return { type: 'image_url', image_url: { url: entry.image } };
}

/** The format has no error flag, so the text of the result begins with "Error:". */
function writeResult({ id, text, isError }: Result): JsonObject {
  return { role: 'tool', tool_call_id: id, content: isError === true ? `Error: ${text}` : text };
}

function writeTool({ name, description, schema, grammar }: Tool): object {
  if (grammar === undefined) return { type: 'function', function: { name, description, parameters: schema } };
  const format = { type: 'grammar', grammar: { syntax: 'lark', definition: grammar } };
  return { type: 'custom', custom: { name, description, format } };
}

function readCall(call: JsonObject): Call {
  const { name, input } = objectOf(call['custom']);
  if (call['type'] === 'custom') {
    return { type: 'call', id: textOf(call['id']), name: textOf(name), input: textOf(input) };
  }
  const called = objectOf(call['function']);
  return {
    type: 'call',
    id: textOf(call['id']),
    name: textOf(called['name']),
    input: parseInput(textOf(called['arguments'])),
  };
}

function readUsage(value: unknown): ReturnType<ClientFormat['read']>['usage'] {
  if (!isObject(value)) return undefined;
  const input = numberOf(value['prompt_tokens']);
  const output = numberOf(value['completion_tokens']);
  insist(value['total_tokens'] === input + output, 'total_tokens is not the sum of both');
  return {
    input,
    output,
    cached: numberOf(objectOf(value['prompt_tokens_details'])['cached_tokens']),
    thinking: numberOf(objectOf(value['completion_tokens_details'])['reasoning_tokens']),
  };
}

/** Folds chunks as the helper of the openai SDK does. */
function fold(events: readonly StreamEvent[]): JsonObject {
  insist(events.at(-1)?.data === '[DONE]', 'the stream does not end with [DONE]');
  const chunks = events.slice(0, -1).map(({ data }) => objectOf(JSON.parse(data)));
  const message: JsonObject = { role: 'assistant', content: null, refusal: null };
  let finish_reason: string | undefined;
  for (const chunk of chunks) {
    const [choice] = objectsOf(chunk['choices']);
    if (choice === undefined) continue;
    const isEmpty = Object.keys(objectOf(choice['delta'])).length === 0 && choice['finish_reason'] === null;
    insist(finish_reason === undefined || isEmpty, 'a choice continues after its finish_reason');
    addDelta(message, objectOf(choice['delta']));
    finish_reason ??= maybeText(choice['finish_reason']);
  }
  insist(finish_reason !== undefined, 'no finish_reason has come');
  const isTextless = message['content'] === '' && ('tool_calls' in message || message['refusal'] !== null);
  const { id, created, model } = chunks.at(-1) ?? {};
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      { index: 0, message: { ...message, ...(isTextless && { content: null }) }, logprobs: null, finish_reason },
    ],
    usage: chunks.at(-1)?.['usage'],
  };
}

function addDelta(message: JsonObject, delta: JsonObject): void {
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'tool_calls') addCalls(message, objectsOf(value));
    else if (name === 'reasoning_details') message[name] = [...objectsOf(message[name]), ...objectsOf(value)];
    else if (name !== 'role' && typeof value === 'string') message[name] = textOf(message[name]) + value;
  }
}

function addCalls(message: JsonObject, deltas: readonly JsonObject[]): void {
  const calls = objectsOf(message['tool_calls']);
  for (const { index, ...delta } of deltas) {
    insist(Number(index) <= calls.length, 'indexes of calls have a gap');
    const call = (calls[Number(index)] ??= delta);
    if (call === delta) continue;
    insist(delta['id'] === undefined, 'the id of a call is repeated');
    const form = call['type'] === 'custom' ? 'custom' : 'function';
    for (const [name, more] of Object.entries(objectOf(delta[form]))) {
      const called = objectOf(call[form]);
      called[name] = textOf(called[name]) + textOf(more);
    }
  }
  message['tool_calls'] = calls;
}
