import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ClientFormatName } from './routes.ts';

const hi = 'Hi x';

/** A whole answer with these members: one with a text, in which citations find their words. */
export function framedAnswer(format: ClientFormatName, members: JsonObject): JsonObject {
  const given = realistic(members) as JsonObject;
  switch (format) {
    case 'chat': {
      const [choice = {}] = list(given['choices']);
      const { message } = choice;
      const said = isJsonObject(message) ? { ...message, content: message['content'] ?? hi } : { content: hi };
      const answered = { ...choice, finish_reason: choice['finish_reason'] ?? 'stop', message: said };
      return { ...given, choices: [answered] };
    }
    case 'responses': {
      const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: hi }] };
      const status = isJsonObject(given['error']) ? 'failed' : 'completed';
      const ended = isJsonObject(given['incomplete_details']) ? 'incomplete' : status;
      return { ...given, status: given['status'] ?? ended, output: [...list(given['output']), item] };
    }
    case 'messages':
      return { stop_reason: 'end_turn', ...given, content: [...list(given['content']), { type: 'text', text: hi }] };
    case 'gemini': {
      if (isJsonObject(given['promptFeedback']))
        return { ...given, promptFeedback: { blockReason: 'SAFETY', ...given['promptFeedback'] } };
      const usage = given['usageMetadata'];
      const usageMetadata = isJsonObject(usage) ? { promptTokenCount: 5, candidatesTokenCount: 6, ...usage } : {};
      const [candidate = {}] = list(given['candidates']);
      const content = isJsonObject(candidate['content']) ? candidate['content'] : {};
      const parts = [...list(content['parts']), { text: hi }];
      const answered = { finishReason: 'STOP', ...candidate, ...withChunks(candidate), content: { ...content, parts } };
      return { ...given, usageMetadata, candidates: [answered] };
    }
  }
}

/** A streamed answer with an event, beside a text. */
export interface FramedStream {
  readonly event: JsonObject;
  readonly all: readonly JsonObject[];
}

export function framedStream(format: ClientFormatName, event: JsonObject): FramedStream {
  const given = realistic(event) as JsonObject;
  switch (format) {
    case 'chat': {
      const [choice] = list(given['choices']);
      const choices = choice === undefined ? [] : [{ ...choice, ...withCall(choice), index: 0 }];
      const chunk: JsonObject = { ...given, ...(choice && { choices }) };
      return { event: chunk, all: [chunk, chatChunk({ content: hi }, null), chatChunk({}, 'stop')] };
    }
    case 'responses':
      return framedEvent(given);
    case 'messages':
      return { event: given, all: framedMessage(given) };
    case 'gemini': {
      const chunk = framedAnswer(format, event);
      return { event: chunk, all: [chunk] };
    }
  }
}

/** A piece means nothing without the name of its call. */
function withCall({ delta }: JsonObject): JsonObject {
  const calls = isJsonObject(delta) ? list(delta['tool_calls']) : [];
  if (calls.length === 0) return {};
  const named = calls.map((call) =>
    isJsonObject(call['custom']) || call['type'] === 'custom'
      ? { id: 'y', type: 'custom', ...call, custom: { name: 'y', input: '', ...(call['custom'] as JsonObject) } }
      : {
          id: 'y',
          type: 'function',
          ...call,
          function: { name: 'y', arguments: '', ...(call['function'] as JsonObject) },
        },
  );
  return { delta: { role: 'assistant', ...(delta as JsonObject), tool_calls: named } as JsonObject };
}

/** The item that an event is about, by the name of the event. */
const itemOf: readonly (readonly [name: RegExp, item: JsonObject])[] = [
  [/reasoning/, { type: 'reasoning', summary: [] }],
  [/output_text|refusal|content_part/, { type: 'message', role: 'assistant', content: [] }],
  [/function_call_arguments/, { type: 'function_call', call_id: 'x', name: 'x', arguments: '' }],
  [/custom_tool_call/, { type: 'custom_tool_call', call_id: 'x', name: 'x', input: '' }],
  [/mcp_call/, { type: 'mcp_call', name: 'x', server_label: 'x', arguments: '' }],
  [/mcp_list_tools/, { type: 'mcp_list_tools', server_label: 'x', tools: [] }],
  [/web_search_call/, { type: 'web_search_call' }],
  [/file_search_call/, { type: 'file_search_call', queries: [] }],
  [/code_interpreter_call/, { type: 'code_interpreter_call', container_id: 'x', code: '' }],
  [/image_generation_call/, { type: 'image_generation_call', result: null }],
];

/** An event of a part of an item, or of the whole answer. */
function framedEvent(given: JsonObject): FramedStream {
  const type = String(given['type']);
  // The event is about nothing without it.
  if (given['annotation'] === null) given['annotation'] = { type: 'file_citation', file_id: 'x' };
  const event = placed(given);
  const partType = isJsonObject(event['part']) ? String(event['part']['type']) : '';
  const item = itemOf.find(([name]) => name.test(`${type} ${partType}`))?.[1] ?? event['item'];
  const isAdded = isJsonObject(item) && type !== 'response.output_item.added';
  const added = { type: 'response.output_item.added', output_index: 0, item: { ...(item as JsonObject), id: 'x' } };
  const part = event['part'] ?? { type: /refusal/.test(type) ? 'refusal' : 'output_text', text: '', annotations: [] };
  const opened = { type: 'response.content_part.added', item_id: 'x', output_index: 0, content_index: 0, part };
  const hasPart = /output_text|refusal|content_part\.done/.test(type);
  const { output } = isJsonObject(event['response']) ? event['response'] : {};
  const text = { type: 'response.output_text.delta', item_id: 'y', output_index: 1, content_index: 0, delta: hi };
  const response = { id: 'x', object: 'response', status: 'in_progress', output: [] };
  const isEnd = type === 'response.completed';
  const all = [
    ...(type === 'response.created' ? [] : [{ type: 'response.created', response }]),
    ...(isAdded ? [added] : []),
    ...(hasPart ? [opened] : []),
    ...(isEnd ? [] : [event]),
    ...(list(output).length > 0 ? [] : [text]),
    isEnd ? event : { type: 'response.completed', response: { ...response, status: 'completed' } },
  ] as JsonObject[];
  return { event, all };
}

const indexes = ['output_index', 'content_index', 'summary_index', 'annotation_index'];

/** The event about the only item, whose input comes later. */
function placed(event: JsonObject): JsonObject {
  const { sequence_number: _, item, item_id: id, ...others } = event;
  const begun = event['type'] === 'response.output_item.added' && isJsonObject(item) ? withoutInput(item) : item;
  return {
    ...others,
    ...Object.fromEntries(indexes.filter((name) => others[name] !== undefined).map((name) => [name, 0])),
    ...(id !== undefined && { item_id: 'x' }),
    ...(begun !== undefined && { item: begun }),
  };
}

function withoutInput(item: JsonObject): JsonObject {
  const isCall = /^(?:function|custom_tool)_call$/.test(String(item['type']));
  const input = item['type'] === 'function_call' ? { arguments: '' } : { input: '' };
  return isCall ? { ...item, ...input } : item;
}

function chatChunk(delta: JsonObject, finish_reason: string | null): JsonObject {
  return { object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] };
}

/** The block that a delta belongs to. */
const blockOf: Readonly<Record<string, JsonObject>> = {
  text_delta: { type: 'text', text: '' },
  citations_delta: { type: 'text', text: '' },
  thinking_delta: { type: 'thinking', thinking: '', signature: '' },
  signature_delta: { type: 'thinking', thinking: '', signature: '' },
  input_json_delta: { type: 'tool_use', id: 'x', name: 'x', input: {} },
};

function framedMessage(given: JsonObject): readonly JsonObject[] {
  const { type, delta } = given;
  const kind = isJsonObject(delta) ? blockOf[String(delta['type'])] : undefined;
  const stop = { type: 'content_block_stop', index: 0 };
  const start = { type: 'message_start', message: { type: 'message', role: 'assistant', content: [], usage: {} } };
  const used = isJsonObject(given['content_block']) ? given['content_block'] : kind;
  const stop_reason = used?.['type'] === 'tool_use' ? 'tool_use' : 'end_turn';
  const ending = { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 7 } };
  const open = { type: 'content_block_start', index: 0, content_block: kind ?? { type: 'text', text: '' } };
  // A citation comes before its words.
  const isCited = isJsonObject(delta) && delta['type'] === 'citations_delta';
  const isAbout = (...types: string[]) => types.includes(String(type));
  return [
    isAbout('message_start') ? given : start,
    ...(isAbout('content_block_delta', 'content_block_stop') ? [open] : []),
    ...(isAbout('content_block_start', 'content_block_delta', 'content_block_stop') ? [given] : []),
    ...(isCited ? [{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: hi } }] : []),
    ...(isAbout('content_block_start', 'content_block_delta') ? [stop] : []),
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: hi } },
    { type: 'content_block_stop', index: 1 },
    isAbout('message_delta') ? given : ending,
    isAbout('message_stop') ? given : { type: 'message_stop' },
  ] as JsonObject[];
}

/** The bytes of a stream. */
export function bytesOf(events: readonly JsonObject[], format: ClientFormatName): Buffer {
  const lines = events.map((event) => {
    const name = format === 'responses' || format === 'messages' ? `event: ${String(event['type'])}\n` : '';
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  return Buffer.from(lines.join('') + (format === 'chat' ? 'data: [DONE]\n\n' : ''));
}

/** A source means nothing without an address, and a support nothing without sources. */
function withChunks({ groundingMetadata: grounding }: JsonObject): JsonObject {
  if (!isJsonObject(grounding)) return {};
  const chunks = list(grounding['groundingChunks'] ?? [{ web: {} }]).map((chunk) =>
    Object.fromEntries(
      Object.entries(chunk).map(([kind, source]) => [
        kind,
        isJsonObject(source) ? { uri: 'https://example.com/a', ...source } : source,
      ]),
    ),
  );
  const supports = list(grounding['groundingSupports']).map((support) => ({
    groundingChunkIndices: [0],
    segment: { text: 'Hi' },
    ...support,
  }));
  return {
    groundingMetadata: { ...grounding, groundingChunks: chunks, groundingSupports: supports } as JsonObject,
  };
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Values that mean something to a reader. */
function realistic(value: JsonValue, name = ''): JsonValue {
  if (Array.isArray(value)) return value.map((entry) => realistic(entry, name));
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [
        key,
        key === 'functionCall' ? { name: 'x', ...(entry as JsonObject) } : realistic(entry as JsonValue, key),
      ]),
    );
  if (value === 1 && (name === 'index' || /(?:start|end)_?index/i.test(name) || name === 'groundingChunkIndices'))
    return 0;
  if (value === 1 && /tokens|TokenCount/.test(name)) return 7;
  if (value !== 'x') return value;
  if (/^(?:url|uri|fileUri|image_url|sourceUri)$/i.test(name)) return 'https://example.com/a.png';
  if (name === 'data' || name === 'result') return 'aGVsbG8=';
  if (name === 'mimeType') return 'image/png';
  return name === 'arguments' ? '{}' : value;
}
