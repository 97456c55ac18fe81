import { inflateSync } from 'node:zlib';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';

/*
 * A model that does what the prompts of the tests ask for: it calls the tools that a prompt names, fills in a schema, counts, finds codes,
 * sees the colors of a picture, thinks, and respects limits and stop sequences. It knows nothing about the gateway.
 */

export interface AbleAnswer {
  whole(): JsonObject;
  chunks(): (JsonObject | '[DONE]')[];
}

interface Said {
  readonly reasoning: readonly string[];
  readonly text: readonly string[];
  readonly calls: readonly JsonObject[];
  readonly finish: 'stop' | 'length' | 'tool_calls';
}

export function answerAbly(body: JsonObject): AbleAnswer {
  const { model = '', stream_options: options } = body;
  const said = composeAnswer(body);
  const head = { id: 'chatcmpl-able', created: 1_790_000_000, model };
  const reasoned = said.reasoning.length;
  const input = Math.ceil(JSON.stringify([body['messages'], body['tools'] ?? null]).length / 4);
  const output = reasoned + said.text.length + JSON.stringify(said.calls).length / 4;
  const usage = {
    prompt_tokens: input,
    completion_tokens: Math.ceil(output),
    total_tokens: input + Math.ceil(output),
    completion_tokens_details: { reasoning_tokens: reasoned },
  };
  const message = {
    role: 'assistant',
    content: said.calls.length > 0 ? null : said.text.join(''),
    ...(reasoned > 0 && { reasoning_content: said.reasoning.join('') }),
    ...(said.calls.length > 0 && { tool_calls: [...said.calls] }),
  };
  const chunk = (members: JsonObject) => ({ ...head, object: 'chat.completion.chunk', ...members });
  const choice = (delta: JsonObject, reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, finish_reason: reason }] });
  return {
    whole: () => ({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: said.finish }],
      usage,
    }),
    chunks: () => [
      choice({ role: 'assistant', content: '' }),
      ...said.reasoning.map((token) => choice({ reasoning_content: token })),
      ...said.text.map((content) => choice({ content })),
      ...said.calls.map((call, index) => choice({ tool_calls: [{ index, ...call }] })),
      choice({}, said.finish),
      ...(isJsonObject(options) && options['include_usage'] === true ? [chunk({ choices: [], usage })] : []),
      '[DONE]',
    ],
  };
}

function composeAnswer(body: JsonObject): Said {
  const messages = filterObjects(body['messages']);
  const prompt = textOf(messages.findLast(({ role }) => role === 'user')?.['content']);
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1);
  const effort = body['reasoning_effort'];
  const reasoning = typeof effort === 'string' && effort !== 'none' ? splitTokens('Let me think.') : [];
  const calls = results.length > 0 ? [] : chooseCalls(body, prompt);
  if (calls.length > 0) return { reasoning, text: [], calls, finish: 'tool_calls' };
  const answer =
    results.map(({ content }) => `The tool said: ${textOf(content)}.`).join(' ') || followPrompt(body, prompt);
  const ends = [body['stop']].flat().flatMap((stop) => (typeof stop === 'string' ? [answer.indexOf(stop)] : []));
  const text = splitTokens(answer.slice(0, Math.min(answer.length, ...ends.filter((at) => at >= 0))));
  const limit = Number(body['max_completion_tokens'] ?? body['max_tokens'] ?? Infinity);
  const isCut = text.length > limit;
  return { reasoning, text: text.slice(0, limit), calls, finish: isCut ? 'length' : 'stop' };
}

function splitTokens(text: string): string[] {
  return text.match(/\s*\S+/g) ?? [];
}

function findNames(prompt: string): string[] {
  return [...prompt.matchAll(/\b(?:in|for|about|city) ([A-Z]\w+)/g)].map(([, name = '']) => name);
}

/** Calls the first tool that the prompt names: once, or once for each name (such as a city) unless parallel calls are disabled. */
function chooseCalls({ tools, tool_choice: choice, parallel_tool_calls: parallel }: JsonObject, prompt: string) {
  if (choice === 'none') return [];
  const known = filterObjects(tools).map((tool) => tool['function'] as JsonObject);
  const named = known.filter(({ name }) => prompt.includes(String(name)));
  const [tool] = named.length === 0 && choice === 'required' ? known : named;
  if (tool === undefined) return [];
  const names = findNames(prompt);
  const isOnce = parallel === false || names.length < 2;
  return (isOnce ? [names[0]] : names).map((name, index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name: String(tool['name']), arguments: JSON.stringify(createSample(tool['parameters'], name)) },
  }));
}

function followPrompt({ response_format: format }: JsonObject, prompt: string): string {
  if (isJsonObject(format) && format['type'] === 'json_object') return '{"answer":"yes"}';
  if (isJsonObject(format) && isJsonObject(format['json_schema']))
    return JSON.stringify(createSample(format['json_schema']['schema'], findNames(prompt)[0]));
  const [, from, to] = /\bnumbers from (\d+) to (\d+)/.exec(prompt) ?? [];
  if (from !== undefined)
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index).join(' ');
  const codes = [...prompt.matchAll(/\bcode is (\w+)/g)].map(([, code]) => code);
  return codes.join(', ') || (/\[seen: (.+)\]/.exec(prompt)?.[1] ?? `You said: ${prompt}`);
}

function createSample(schema: JsonValue | undefined, text = 'something'): JsonValue {
  if (!isJsonObject(schema)) return {};
  const { type, enum: values, items, properties } = schema;
  if (Array.isArray(values)) return values[0] ?? null;
  if (isJsonObject(properties))
    return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, createSample(one, text)]));
  const samples: Readonly<Record<string, JsonValue>> = { string: text, integer: 7, number: 7, boolean: true };
  return type === 'array' ? [createSample(items, text)] : (samples[String(type)] ?? {});
}

function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return filterObjects(content)
    .map(({ text, image_url: image }) =>
      isJsonObject(image) ? readQuarterColors(String(image['url'])) : String(text ?? ''),
    )
    .join('\n');
}

const colours = { red: 'f00', green: '080', blue: '00f', yellow: 'ff0', black: '000', white: 'fff' } as const;

/** Expects 8 bits per color, one chunk of pixels, no filters. */
function readQuarterColors(url: string): string {
  const png = Buffer.from(url.replace(/^data:image\/png;base64,/, ''), 'base64');
  const start = png.indexOf('IDAT');
  if (start < 0) return '[a picture]';
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const pixels = inflateSync(png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4)));
  const nearest = (x: number, y: number) => {
    const at = (1 + 3 * width) * Math.floor(height * y) + 1 + 3 * Math.floor(width * x);
    const distance = (hex: string) =>
      [...hex].reduce(
        (sum, digit, index) => sum + (Number.parseInt(digit, 16) * 17 - (pixels[at + index] ?? 0)) ** 2,
        0,
      );
    return Object.entries(colours).toSorted(([, one], [, other]) => distance(one) - distance(other))[0]?.[0];
  };
  return `[seen: ${[nearest(0.25, 0.25), nearest(0.75, 0.25), nearest(0.25, 0.75), nearest(0.75, 0.75)].join(' ')}]`;
}

function filterObjects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
