import type { JsonObject } from '#core/platform/json.ts';
import {
  type Answer,
  type AnswerBlock,
  type Ask,
  type Call,
  compact,
  type End,
  type Entry,
  maybeText,
  objectOf,
  objectsOf,
  parseInput,
  textOf,
  type Tool,
  type Usage,
} from '../conversation.ts';
import { chatRequestSchema } from './chat-request.ts';
import { checkAnswered, interleave, piecesOf, unnamed, type UpstreamFormat } from './upstream-format.ts';

/** A Chat Completions endpoint with reasoning as DeepSeek sends it. Source: OpenAI API reference. */
export const chatUpstream: UpstreamFormat = {
  path: () => '/chat/completions',
  schema: chatRequestSchema,
  read(body) {
    const messages = objectsOf(body['messages']);
    const [first] = messages;
    checkOrder(messages);
    if (body['stream'] === true && objectOf(body['stream_options'])['include_usage'] !== true) {
      throw new Error('a stream without include_usage is not counted');
    }
    const format = objectOf(body['response_format']);
    return compact({
      system: first !== undefined && isInstruction(first) ? first['content'] : undefined,
      entries: messages.filter((message) => message !== first || !isInstruction(message)).flatMap(readMessage),
      tools: body['tools'] && objectsOf(body['tools']).map(readTool),
      isSerial: body['parallel_tool_calls'] === false || undefined,
      effort: body['reasoning_effort'],
      schema: objectOf(format['json_schema'])['schema'],
      stop: body['stop'],
      limit: body['max_completion_tokens'],
    }) as unknown as Ask;
  },
  whole(answer, model) {
    const text = joined(answer, 'text');
    const refusal = joined(answer, 'refusal');
    const thought = joined(answer, 'thought');
    const calls = callsOf(answer);
    const message = {
      role: 'assistant',
      content: text === '' && (refusal !== '' || calls.length > 0) ? null : text,
      refusal: refusal === '' ? null : refusal,
      ...(thought !== '' && { reasoning_content: thought }),
      ...(calls.length > 0 && { tool_calls: calls.map((call) => writeCall(call, writeInput(call))) }),
    };
    return compact({
      ...head('chat.completion', model),
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }],
      usage: answer.usage && writeUsage(answer.usage),
    });
  },
  events(answer, model) {
    const chunk = (delta: object, finish_reason: string | null = null): JsonObject =>
      compact({
        ...head('chat.completion.chunk', model),
        choices: [{ index: 0, delta, logprobs: null, finish_reason }],
        usage: null,
      });
    const contentDeltas = answer.blocks.filter(({ type }) => type !== 'call').flatMap(deltasOf);
    const calls = interleave(callsOf(answer).map(callDeltas));
    const chunks = [
      chunk({ role: 'assistant', content: '', refusal: null }),
      ...[...contentDeltas, ...calls].map((delta) => chunk(delta)),
      chunk({}, finishOf(answer)),
    ];
    const { usage } = answer;
    if (usage !== undefined) {
      chunks.push(compact({ ...head('chat.completion.chunk', model), choices: [], usage: writeUsage(usage) }));
    }
    return chunks;
  },
  frame: (chunks) => `${unnamed(chunks)}data: [DONE]\n\n`,
  failures: {
    overflow: {
      status: 400,
      body: {
        error: {
          message:
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
          type: 'invalid_request_error',
          param: 'messages',
          code: 'context_length_exceeded',
        },
      },
    },
    'rate limit': {
      status: 429,
      body: {
        error: { message: 'Rate limit reached', type: 'tokens', param: null, code: 'rate_limit_exceeded' },
      },
    },
    'bad key': {
      status: 401,
      body: {
        error: {
          message: 'Incorrect API key provided: sk-ab***yz',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_api_key',
        },
      },
    },
  },
};

function isInstruction({ role }: JsonObject): boolean {
  return role === 'system' || role === 'developer';
}

/** Each call is followed by its result before any other message. */
function checkOrder(messages: readonly JsonObject[]): void {
  for (let index = 0; index < messages.length; index++) {
    const calls = objectsOf(messages[index]?.['tool_calls']).map(({ id }) => textOf(id));
    const results: string[] = [];
    while (messages[index + 1]?.['role'] === 'tool') results.push(textOf(messages[++index]?.['tool_call_id']));
    checkAnswered(calls, results, `messages[${index}]`);
  }
}

function readMessage(message: JsonObject): Entry[] {
  const { role, content } = message;
  if (role === 'user') return readParts(content, 'user');
  if (role === 'tool') {
    const text = readText(content);
    const isError = text.startsWith('Error: ');
    const result = isError ? text.slice('Error: '.length) : text;
    return [{ type: 'result', id: textOf(message['tool_call_id']), text: result, ...(isError && { isError }) }];
  }
  if (role !== 'assistant') return [{ type: 'text', by: 'user', text: `${textOf(role)}: ${readText(content)}` }];
  const thought = maybeText(message['reasoning_content']);
  const text = readText(content);
  return [
    ...(thought === undefined ? [] : [{ type: 'thought', text: thought, signature: undefined } as const]),
    ...(text === '' ? [] : [{ type: 'text', by: 'model', text } as const]),
    ...objectsOf(message['tool_calls']).map(readCall),
  ];
}

function readText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map(({ text }) => textOf(text))
    .join('');
}

function readParts(content: unknown, by: 'user'): Entry[] {
  if (typeof content === 'string') return [{ type: 'text', by, text: content }];
  return objectsOf(content).map((part): Entry => {
    if (part['type'] === 'text') return { type: 'text', by, text: textOf(part['text']) };
    return { type: 'image', image: textOf(objectOf(part['image_url'])['url']) };
  });
}

function readCall(call: JsonObject): Call {
  const { name, input } = objectOf(call['custom']);
  const id = textOf(call['id']);
  if (call['type'] === 'custom') return { type: 'call', id, name: textOf(name), input: textOf(input) };
  const called = objectOf(call['function']);
  return { type: 'call', id, name: textOf(called['name']), input: parseInput(textOf(called['arguments'])) };
}

function readTool(tool: JsonObject): Tool {
  const custom = objectOf(tool['custom']);
  const { name, description, parameters } = objectOf(tool['function']);
  if (tool['type'] !== 'custom') {
    return { name: textOf(name), description: textOf(description), schema: parameters as JsonObject | undefined };
  }
  const grammar = textOf(objectOf(objectOf(custom['format'])['grammar'])['definition']);
  return { name: textOf(custom['name']), description: textOf(custom['description']), grammar };
}

function head(object: string, model: string): JsonObject {
  return { id: 'chatcmpl-there', object, created: 1_790_000_000, model };
}

function joined({ blocks }: Answer, type: 'text' | 'refusal' | 'thought'): string {
  return blocks.map((block) => (block.type === type ? block.text : '')).join('');
}

function callsOf({ blocks }: Answer): Call[] {
  return blocks.filter((block): block is Call => block.type === 'call');
}

const finishes: Readonly<Record<End, string>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  calls: 'tool_calls',
  withheld: 'content_filter',
};

/** A refusal is an answer like any other. */
function finishOf(answer: Answer): string {
  return joined(answer, 'refusal') === '' ? finishes[answer.end] : 'stop';
}

function writeInput({ input }: Call): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

function writeCall({ id, name, input }: Call, text: string): JsonObject {
  if (typeof input === 'string') return { id, type: 'custom', custom: { name, input: text } };
  return { id, type: 'function', function: { name, arguments: text } };
}

const memberOf = { text: 'content', refusal: 'refusal', thought: 'reasoning_content' } as const;

function deltasOf(block: AnswerBlock): JsonObject[] {
  if (block.type === 'call') return [];
  return piecesOf(block.text).map((piece) => ({ [memberOf[block.type]]: piece }));
}

function callDeltas(call: Call, index: number): JsonObject[] {
  const text = writeInput(call);
  const form = typeof call.input === 'string' ? 'custom' : 'function';
  const member = form === 'custom' ? 'input' : 'arguments';
  return [
    { tool_calls: [{ index, ...writeCall(call, '') }] },
    ...piecesOf(text).map((piece) => ({ tool_calls: [{ index, [form]: { [member]: piece } }] })),
  ];
}

function writeUsage({ input, cached, output, thinking }: Usage): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: thinking,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
