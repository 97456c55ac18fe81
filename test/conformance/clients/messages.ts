import type { JsonObject } from '#core/platform/json.ts';
import { errorSchema, eventSchema, wholeReplySchema } from '../../support/schemas/messages.ts';
import {
  type Call,
  compact,
  type End,
  isObject,
  numberOf,
  objectOf,
  objectsOf,
  parseInput,
  splitDataUrl,
  textOf,
} from '../conversation.ts';
import { type ClientFormat, insist, type Question, type StreamEvent, type Written } from './client-format.ts';

/** Messages, as the anthropic SDK and Claude Code send and read it. Source: Anthropic API reference, "Messages". */
export const messagesClient: ClientFormat = {
  path: () => '/v1/messages',
  keyHeader: 'x-api-key',
  write: (question, { model, isStream }) =>
    compact({
      model,
      system: question.system,
      messages: writeMessages(question),
      max_tokens: question.limit ?? 32_000,
      tools: question.tools?.map(({ name, description, schema }) => ({
        name,
        description,
        input_schema: schema ?? { type: 'object', properties: {} },
      })),
      tool_choice: question.isSerial === true ? { type: 'auto', disable_parallel_tool_use: true } : undefined,
      thinking: question.effort && { type: 'enabled', budget_tokens: 16_384 },
      output_config: question.schema && { format: { type: 'json_schema', schema: question.schema } },
      stop_sequences: question.stop,
      stream: isStream,
    }),
  fold,
  read(whole) {
    const content = objectsOf(whole['content']);
    const calls = content.filter(({ type }) => type === 'tool_use').map(readCall);
    return {
      text: joined(content, 'text') || textOf(objectOf(whole['stop_details'])['explanation']),
      thought: joined(content, 'thinking'),
      calls,
      end: ends[textOf(whole['stop_reason'])],
      stopSequence: typeof whole['stop_sequence'] === 'string' ? whole['stop_sequence'] : undefined,
      usage: readUsage(whole['usage']),
    };
  },
  echo: (whole) => [{ role: 'assistant', content: objectsOf(whole['content']) }],
  failures: {
    overflow: { type: 'error', error: { type: 'invalid_request_error' } },
    'rate limit': { type: 'error', error: { type: 'rate_limit_error' } },
    'bad key': { type: 'error', error: { type: 'api_error' } },
  },
  schemas: {
    whole: wholeReplySchema,
    error: errorSchema,
    eventType: ({ type }) => textOf(type),
    events: eventSchema,
  },
  cannotSay: (feature) => feature === 'freeform tool',
  echoLosesThoughts: false,
  hasSerialCalls: true,
  hasErrorFlag: true,
  tellsStop: true,
};

const ends: Readonly<Record<string, End>> = {
  end_turn: 'stop',
  stop_sequence: 'stop_sequence',
  max_tokens: 'length',
  tool_use: 'calls',
  refusal: 'withheld',
};

function writeMessages({ entries }: Question): JsonObject[] {
  const messages: JsonObject[] = [];
  for (const entry of entries) {
    const last = messages.at(-1);
    if (entry.type === 'echo') messages.push(...entry.raw);
    else if (last?.['role'] === 'user' && Array.isArray(last['content'])) last['content'].push(writeBlock(entry));
    else messages.push({ role: 'user', content: [writeBlock(entry)] });
  }
  return messages;
}

function writeBlock(entry: Written): JsonObject {
  if (entry.type === 'text') return { type: 'text', text: entry.text };
  if (entry.type === 'image') return writeImage(entry.image);
  insist(entry.type === 'result', `a user cannot say a ${entry.type}`);
  const text = { type: 'text', text: entry.text };
  return {
    type: 'tool_result',
    tool_use_id: entry.id,
    content: entry.image === undefined ? entry.text : [text, writeImage(entry.image)],
    ...(entry.isError === true && { is_error: true }),
  };
}

function writeImage(image: string): JsonObject {
  const inline = splitDataUrl(image);
  const source =
    inline === undefined
      ? { type: 'url', url: image }
      : { type: 'base64', media_type: inline.mediaType, data: inline.data };
  return { type: 'image', source };
}

function joined(content: readonly JsonObject[], type: 'text' | 'thinking'): string {
  return content
    .filter((block) => block['type'] === type)
    .map((block) => textOf(block[type]))
    .join('');
}

function readCall(block: JsonObject): Call {
  return { type: 'call', id: textOf(block['id']), name: textOf(block['name']), input: objectOf(block['input']) };
}

function readUsage(value: unknown): ReturnType<ClientFormat['read']>['usage'] {
  if (!isObject(value)) return undefined;
  const cached = numberOf(value['cache_read_input_tokens']);
  return {
    input: numberOf(value['input_tokens']) + cached + numberOf(value['cache_creation_input_tokens']),
    cached,
    output: numberOf(value['output_tokens']),
    thinking: numberOf(objectOf(value['output_tokens_details'])['thinking_tokens']),
  };
}

/** Folds events as MessageStream of the anthropic SDK does. */
function fold(events: readonly StreamEvent[]): JsonObject {
  const content: JsonObject[] = [];
  let message: JsonObject | undefined;
  let json = '';
  let open: number | undefined;
  for (const { name, data } of events) {
    const event = objectOf(JSON.parse(data));
    const type = textOf(event['type']);
    insist(name === type, `event: ${String(name)} is not ${type}`);
    insist(type === 'ping' || message !== undefined || type === 'message_start', 'message_start is not first');
    if (type.startsWith('content_block')) {
      const index = numberOf(event['index']);
      if (type === 'content_block_start') {
        insist(open === undefined && index === content.length, 'blocks are not one after the other');
        open = index;
        json = '';
        content.push(objectOf(event['content_block']));
      }
      insist(open === index, `${type} of a block that is not open`);
      const block = content[index] as JsonObject;
      if (type === 'content_block_delta') json += addDelta(block, objectOf(event['delta']));
      if (type === 'content_block_stop') {
        open = undefined;
        if (block['type'] === 'tool_use') block['input'] = parseInput(json);
      }
    } else if (type === 'message_start') message = { ...objectOf(event['message']), content };
    else if (type === 'message_delta' && message !== undefined) {
      Object.assign(message, event['delta'], {
        usage: { ...objectOf(message['usage']), ...objectOf(event['usage']) },
      });
    }
  }
  insist(message !== undefined && open === undefined, 'a block is not closed');
  insist(events.at(-1)?.name === 'message_stop', 'message_stop is not last');
  return message;
}

/** @returns the piece of a call's input */
function addDelta(block: JsonObject, delta: JsonObject): string {
  for (const member of ['text', 'thinking', 'signature']) {
    if (member in delta) block[member] = textOf(block[member]) + textOf(delta[member]);
  }
  return textOf(delta['partial_json']);
}
