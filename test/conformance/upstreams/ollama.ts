import type { JsonObject } from '#core/platform/json.ts';
import {
  type Answer,
  type Ask,
  type Call,
  compact,
  dataUrl,
  type Entry,
  maybeText,
  objectOf,
  objectsOf,
  textOf,
} from '../conversation.ts';
import { ollamaRequestSchema } from './ollama-request.ts';
import { checkAnswered, piecesOf, type UpstreamFormat } from './upstream-format.ts';

/** The native chat endpoint of Ollama. Source: Ollama API reference, "Generate a chat message", "Errors". */
export const ollamaUpstream: UpstreamFormat = {
  path: () => '/chat',
  streamType: 'application/x-ndjson',
  schema: ollamaRequestSchema,
  read(body) {
    const messages = objectsOf(body['messages']);
    const [first] = messages;
    checkOrder(messages);
    const options = objectOf(body['options']);
    return compact({
      system: first?.['role'] === 'system' ? first['content'] : undefined,
      entries: messages.filter((message) => message !== first || message['role'] !== 'system').flatMap(readMessage),
      tools:
        body['tools'] &&
        objectsOf(body['tools']).map((tool) => {
          const { name, description, parameters } = objectOf(tool['function']);
          return { name, description, schema: parameters };
        }),
      effort: body['think'],
      schema: body['format'],
      stop: options['stop'],
      limit: options['num_predict'],
    }) as unknown as Ask;
  },
  whole: (answer, model) => ({ ...head(model), message: writeMessage(answer), ...end(answer) }),
  events(answer, model) {
    const pieces = answer.blocks.flatMap((block): JsonObject[] => {
      if (block.type === 'call') return [{ content: '', tool_calls: [writeCall(block)] }];
      if (block.type === 'thought') return piecesOf(block.text).map((thinking) => ({ content: '', thinking }));
      return piecesOf(block.text).map((content) => ({ content }));
    });
    return [
      ...pieces.map((piece) => ({ ...head(model), message: { role: 'assistant', ...piece }, done: false })),
      { ...head(model), message: { role: 'assistant', content: '' }, ...end(answer) },
    ];
  },
  frame: (lines) => lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  failures: {
    overflow: { status: 400, body: { error: 'prompt is too long: it exceeds the context length of the model' } },
    'rate limit': { status: 429, body: { error: 'too many concurrent requests' } },
    'bad key': { status: 401, body: { error: 'unauthorized' } },
  },
};

/** Calls are followed by their results at once, in order, by the name of the tool. */
function checkOrder(messages: readonly JsonObject[]): void {
  for (let index = 0; index < messages.length; index++) {
    const calls = objectsOf(messages[index]?.['tool_calls']).map((call) => textOf(objectOf(call['function'])['name']));
    const results: string[] = [];
    while (messages[index + 1]?.['role'] === 'tool') results.push(textOf(messages[++index]?.['tool_name']));
    checkAnswered(calls, results, `messages[${index}]`);
  }
}

function readMessage(message: JsonObject): Entry[] {
  const { role, content, images, thinking } = message;
  const text = textOf(content);
  if (role === 'tool') {
    const isError = text.startsWith('Error: ');
    const result = isError ? text.slice('Error: '.length) : text;
    return [{ type: 'result', id: textOf(message['tool_call_id']), text: result, ...(isError && { isError }) }];
  }
  const by = role === 'assistant' ? 'model' : 'user';
  const thought = maybeText(thinking);
  const shown = Array.isArray(images) ? images : [];
  return [
    ...(thought === undefined ? [] : [{ type: 'thought', text: thought, signature: undefined } as const]),
    ...(text === '' ? [] : [{ type: 'text', by, text } as const]),
    ...shown.map((image): Entry => ({ type: 'image', image: dataUrl('image/png', image) })),
    ...objectsOf(message['tool_calls']).map(readCall),
  ];
}

function readCall(call: JsonObject): Call {
  const { name, arguments: input } = objectOf(call['function']);
  return { type: 'call', id: textOf(call['id']), name: textOf(name), input: objectOf(input) };
}

function head(model: string): JsonObject {
  return { model, created_at: '2026-01-01T00:00:00.000000Z' };
}

function writeMessage({ blocks }: Answer): JsonObject {
  const content = blocks.map((block) => (block.type === 'text' || block.type === 'refusal' ? block.text : '')).join('');
  const thinking = blocks.map((block) => (block.type === 'thought' ? block.text : '')).join('');
  const calls = blocks.filter((block) => block.type === 'call');
  return {
    role: 'assistant',
    content,
    ...(thinking !== '' && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls.map(writeCall) }),
  };
}

function writeCall({ id, name, input }: Call): JsonObject {
  return { id, function: { name, arguments: typeof input === 'string' ? { input } : input } };
}

/** One finish reason for everything but a limit, calls and refusals included. */
function end({ end: why, usage }: Answer): JsonObject {
  return {
    done: true,
    done_reason: why === 'length' ? 'length' : 'stop',
    ...(usage !== undefined && { prompt_eval_count: usage.input, eval_count: usage.output }),
  };
}
