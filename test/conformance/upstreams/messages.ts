import type { JsonObject } from '#core/platform/json.ts';
import {
  type Answer,
  type AnswerBlock,
  type Ask,
  compact,
  dataUrl,
  type End,
  type Entry,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  type Usage,
} from '../conversation.ts';
import { messagesRequestSchema } from './messages-request.ts';
import { checkAnswered, named, piecesOf, type UpstreamFormat } from './upstream-format.ts';

/** A Messages endpoint. Source: Anthropic API reference, "Messages", "Streaming Messages". */
export const messagesUpstream: UpstreamFormat = {
  path: () => '/messages',
  schema: messagesRequestSchema,
  read(body) {
    const messages = objectsOf(body['messages']);
    checkOrder(messages);
    const budget = numberOf(objectOf(body['thinking'])['budget_tokens']);
    if (budget > 0) checkThoughts(messages);
    if (budget >= numberOf(body['max_tokens'])) throw new Error('the budget of thinking is not less than max_tokens');
    return compact({
      system: readSystem(body['system']),
      entries: messages.flatMap(({ role, content }) => readContent(role === 'user' ? 'user' : 'model', content)),
      tools:
        body['tools'] &&
        objectsOf(body['tools']).map(({ name, description, input_schema }) => ({
          name,
          description,
          schema: input_schema,
        })),
      isSerial: objectOf(body['tool_choice'])['disable_parallel_tool_use'],
      effort: efforts.get(budget),
      schema: objectOf(objectOf(body['output_config'])['format'])['schema'],
      stop: body['stop_sequences'],
      limit: body['max_tokens'],
    }) as unknown as Ask;
  },
  whole: (answer, model) =>
    compact({
      ...message(model),
      content: answer.blocks.map(writeBlock),
      ...ending(answer),
      usage: answer.usage && writeWholeUsage(answer.usage),
    }),
  events(answer, model) {
    const usage = answer.usage && writeUsage(answer.usage);
    const begun = {
      ...message(model),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: answer.usage && { ...writeWholeUsage(answer.usage), output_tokens: 1 },
    };
    return [
      { type: 'message_start', message: begun },
      { type: 'ping' },
      ...answer.blocks.flatMap(blockEvents),
      { type: 'message_delta', delta: ending(answer), usage },
      { type: 'message_stop' },
    ].map(compact);
  },
  frame: named,
  failures: {
    overflow: {
      status: 400,
      body: {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' },
        request_id: 'req_there',
      },
    },
    'rate limit': {
      status: 429,
      body: {
        type: 'error',
        error: { type: 'rate_limit_error', message: 'This request would exceed your rate limit' },
        request_id: 'req_there',
      },
    },
    'bad key': {
      status: 401,
      body: {
        type: 'error',
        error: { type: 'authentication_error', message: 'invalid x-api-key' },
        request_id: 'req_there',
      },
    },
  },
};

/** The budgets of the test's clients, by effort. */
const efforts = new Map([[16_384, 'high']]);

/** The first turn is the user's, roles alternate, and results come first in the turn after their calls. */
/** A text, or blocks of it: one of them may end what is cached. */
function readSystem(system: unknown): string | undefined {
  if (!Array.isArray(system)) return typeof system === 'string' ? system : undefined;
  return (system as { text: string }[]).map(({ text }) => text).join('\n');
}

function checkOrder(messages: readonly JsonObject[]): void {
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant'))
      throw new Error(`messages[${index}]: ${textOf(role)} is out of turn`);
    const before = objectsOf(messages[index - 1]?.['content']);
    const calls = before.filter(({ type }) => type === 'tool_use').map(({ id }) => textOf(id));
    const blocks = objectsOf(content);
    const results = blocks.filter(({ type }) => type === 'tool_result');
    const areFirst = results.every((result, place) => blocks[place] === result);
    if (!areFirst) throw new Error(`messages[${index}]: results are not first`);
    const ids = results.map((result) => textOf(result['tool_use_id']));
    checkAnswered(calls, ids, `messages[${index}]`);
  }
}

/** With thinking, the thinking before a call must return with its result. */
function checkThoughts(messages: readonly JsonObject[]): void {
  const isResult = objectsOf(messages.at(-1)?.['content']).some(({ type }) => type === 'tool_result');
  const [first] = objectsOf(messages.at(-2)?.['content']);
  if (isResult && first?.['type'] !== 'thinking')
    throw new Error('thinking is on, and its last answer has no thinking');
}

function readContent(by: 'user' | 'model', content: unknown): Entry[] {
  if (typeof content === 'string') return [{ type: 'text', by, text: content }];
  return objectsOf(content).map((block): Entry => {
    switch (block['type']) {
      case 'text':
        return { type: 'text', by, text: textOf(block['text']) };
      case 'image':
        return { type: 'image', image: readImage(block) };
      case 'thinking':
        return { type: 'thought', text: textOf(block['thinking']), signature: textOf(block['signature']) };
      case 'tool_use':
        return { type: 'call', id: textOf(block['id']), name: textOf(block['name']), input: objectOf(block['input']) };
      default:
        return readResult(block);
    }
  });
}

function readImage({ source }: JsonObject): string {
  const { type, media_type, data, url } = objectOf(source);
  return type === 'url' ? textOf(url) : dataUrl(media_type, data);
}

function readResult(block: JsonObject): Entry {
  const { content } = block;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);
  const image = parts.filter(({ type }) => type === 'image').map(readImage);
  return {
    type: 'result',
    id: textOf(block['tool_use_id']),
    text: parts.map((part) => textOf((part as JsonObject)['text'])).join(''),
    ...(image.length > 0 && { image: image.join() }),
    ...(block['is_error'] === true && { isError: true }),
  };
}

function message(model: string): JsonObject {
  return { id: 'msg_there', type: 'message', role: 'assistant', model, container: null, diagnostics: null };
}

function writeBlock(block: AnswerBlock): JsonObject {
  switch (block.type) {
    case 'call': {
      const input = typeof block.input === 'string' ? { input: block.input } : block.input;
      return { type: 'tool_use', id: block.id, name: block.name, input, caller: { type: 'direct' } };
    }
    case 'thought':
      return { type: 'thinking', thinking: block.text, signature: block.signature };
    default:
      return { type: 'text', text: block.text };
  }
}

const stopReasons: Readonly<Record<End, string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  calls: 'tool_use',
  withheld: 'refusal',
};

function ending({ end, stopSequence }: Answer): JsonObject {
  const stop_details = end === 'withheld' ? { type: 'refusal', category: null, explanation: null } : null;
  return { container: null, stop_reason: stopReasons[end], stop_sequence: stopSequence ?? null, stop_details };
}

function blockEvents(block: AnswerBlock, index: number): JsonObject[] {
  const whole = writeBlock(block);
  return [
    { type: 'content_block_start', index, content_block: opening(whole) },
    ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function opening(block: JsonObject): JsonObject {
  if (block['type'] === 'tool_use') return { ...block, input: {} };
  return block['type'] === 'thinking' ? { ...block, thinking: '', signature: '' } : { ...block, text: '' };
}

function deltasOf(block: AnswerBlock): JsonObject[] {
  if (block.type === 'thought') {
    const texts = piecesOf(block.text).map((thinking) => ({ type: 'thinking_delta', thinking }));
    return [...texts, { type: 'signature_delta', signature: block.signature }];
  }
  if (block.type !== 'call') return piecesOf(block.text).map((text) => ({ type: 'text_delta', text }));
  const json = JSON.stringify(objectOf(writeBlock(block)['input']));
  return piecesOf(json).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
}

function writeUsage({ input, cached, output, thinking }: Usage): JsonObject {
  return {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: thinking },
    server_tool_use: null,
  };
}

function writeWholeUsage(usage: Usage): JsonObject {
  return { ...writeUsage(usage), cache_creation: null, inference_geo: null, service_tier: null, speed: null };
}
