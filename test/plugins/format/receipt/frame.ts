import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ClientFormatName } from './routes.ts';

const calls: Readonly<Record<string, string>> = {
  function_call_output: 'function_call',
  custom_tool_call_output: 'custom_tool_call',
};

const parameters = { type: 'object', properties: { y: { type: 'string' } } };

/** Tools of a choice must be among those of the request. Chat has them one level below. */
function allowed(choice: JsonObject, name: string): JsonObject {
  if (list(choice['tools']).length === 0) return {};
  if (name === 'allowed_tools') return { tools: [tool.chat] };
  return choice['type'] === 'allowed_tools' ? { tools: [{ type: 'function', name: 'x' }] } : {};
}

/** Members without which an object of this name says nothing, whatever its declaration says. */
const companions: Readonly<Record<string, JsonObject>> = {
  functionDeclarations: { name: 'w' },
  functionCall: { name: 'w' },
  functionResponse: { name: 'w', response: {} },
  fileData: { fileUri: 'https://example.com/b.png', mimeType: 'image/jpeg' },
  inlineData: { data: 'aGk=', mimeType: 'image/jpeg' },
  parametersJsonSchema: parameters,
  responseJsonSchema: parameters,
};
/** The same for one of this type. */
const companionsOfTypes: Readonly<Record<string, JsonObject>> = {
  function_call_output: { call_id: 'w' },
  input_image: { image_url: 'https://example.com/b.png' },
  input_file: { filename: 'b.pdf', file_data: 'data:application/pdf;base64,aGk=' },
};

/** Values without which a vendor, and so the gateway, refuses a member for another reason than that it does not know it. */
function realistic(value: JsonValue, name = ''): JsonValue {
  if (Array.isArray(value)) return value.map((entry) => realistic(entry, name));
  if (isJsonObject(value)) {
    const own = companionsOfTypes[String(value['type'])];
    const whole = { ...companions[name], ...own, ...value, ...allowed(value, name) };
    return Object.fromEntries(Object.entries(whole).map(([key, entry]) => [key, realistic(entry as JsonValue, key)]));
  }
  if (value === 2 || value === 'y') return another(value, name);
  if (value === 1 && /^(?:temperature|top_?p|presence_?penalty|frequency_?penalty)$/i.test(name)) return 0.5;
  if (value === 1 && (name === 'budget_tokens' || name === 'thinkingBudget')) return 2_048;
  if (value === 1 && /max_(?:completion_|output_)?tokens|maxOutputTokens/.test(name)) return 9_000;
  if (value === 1 && (name === 'n' || name === 'candidateCount')) return 2;
  if (value === 'x' && /^(?:min|max)(?:Items|Length|Properties)$/.test(name)) return '5';
  if (value === 'x') {
    if (/url|uri/i.test(name)) return 'https://example.com/a.png';
    if (name === 'data' || name === 'file_data' || name === 'result') return 'aGVsbG8=';
    if (name === 'media_type' || name === 'mimeType') return 'image/png';
    if (name === 'responseMimeType') return 'application/json';
    if (name === 'arguments') return '{}';
  }
  return value;
}

/** Another value than that of 1 or `x`. */
function another(value: 2 | 'y', name: string): JsonValue {
  const [one, other] = value === 2 ? [1, 2] : ['x', 'y'];
  const first = realistic(one, name);
  if (first === one) return other;
  if (typeof first === 'number') return first / 2;
  return secondOf[String(first)] ?? other;
}

const secondOf: Readonly<Record<string, string>> = {
  '5': '6',
  '{}': '{"z":1}',
  'aGVsbG8=': 'aGVsbG8h',
  'image/png': 'image/jpeg',
  'application/json': 'text/plain',
  'https://example.com/a.png': 'https://example.com/c.png',
};

/** A tool of each format, without which members about tools mean nothing. */
const tool: Readonly<Record<ClientFormatName, JsonObject>> = {
  chat: { type: 'function', function: { name: 'x', parameters } },
  responses: { type: 'function', name: 'x', parameters, strict: false },
  messages: { name: 'x', input_schema: parameters },
  gemini: { functionDeclarations: [{ name: 'x', parametersJsonSchema: parameters }] },
};

/** A second one, without which a choice of tools is one of all. */
const otherTool: Readonly<Record<ClientFormatName, JsonObject>> = {
  chat: { type: 'function', function: { name: 'other', parameters } },
  responses: { type: 'function', name: 'other', parameters, strict: false },
  messages: { name: 'other', input_schema: parameters },
  gemini: { functionDeclarations: [{ name: 'other', parametersJsonSchema: parameters }] },
};

/** A whole request with these members. */
export function framed(format: ClientFormatName, members: JsonObject): JsonObject {
  const given = realistic(members) as JsonObject;
  // A tool of the history or an old one has the same name.
  const hasTools =
    given['tools'] !== undefined || /"(?:functions|additional_tools|tool_search_output)"/.test(JSON.stringify(given));
  const tools = hasTools ? {} : { tools: [tool[format], otherTool[format]] };
  const body = { model: 'test', ...tools, ...given };
  switch (format) {
    case 'chat':
      return { ...body, messages: chatDialogue(list(given['messages'])) };
    case 'messages':
      return { max_tokens: 8_000, ...body, messages: messagesDialogue(list(given['messages'])) };
    case 'responses':
      return { ...body, input: responsesDialogue(given['input']) };
    case 'gemini':
      return withType({ ...tools, ...given, contents: geminiDialogue(list(given['contents'])) });
  }
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

const chatHi = { role: 'user', content: 'Hi' };
const chatCall = (id: JsonValue) => ({
  role: 'assistant',
  tool_calls: [{ id, type: 'function', function: { name: 'x', arguments: '{}' } }],
});

function chatDialogue(given: JsonObject[]): JsonObject[] {
  const [message] = given;
  if (message === undefined) return [chatHi];
  if (message['role'] === 'tool') return [chatHi, chatCall(message['tool_call_id'] ?? 'x'), message, chatHi];
  if (message['role'] !== 'assistant') return [message, chatHi];
  const results = list(message['tool_calls']).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
  return [chatHi, message, ...results, chatHi] as JsonObject[];
}

function messagesDialogue(given: JsonObject[]): JsonObject[] {
  const [message] = given;
  const hi = { role: 'user', content: 'Hi' };
  if (message === undefined) return [hi];
  const blocks = list(message['content']);
  const results = blocks.filter(({ type }) => type === 'tool_result');
  if (results.length > 0) {
    const uses = results.map(({ tool_use_id: id }) => ({ type: 'tool_use', id, name: 'x', input: {} }));
    return [hi, { role: 'assistant', content: uses }, { ...message, role: 'user' }] as JsonObject[];
  }
  const isAnswer = blocks.some(({ type }) => /tool_use|thinking/.test(String(type)));
  if (message['role'] !== 'assistant' && !isAnswer) return [message];
  const used = blocks.filter(({ type }) => type === 'tool_use');
  const answers = used.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }));
  return [
    hi,
    { ...message, role: 'assistant' },
    answers.length > 0 ? { role: 'user', content: answers } : hi,
  ] as JsonObject[];
}

function responsesDialogue(given: JsonValue | undefined): JsonValue {
  const [item] = list(given);
  if (item === undefined) return 'Hi';
  const hi = { type: 'message', role: 'user', content: 'Hi' };
  const { type, call_id: id = 'x' } = item;
  const call = calls[String(type)];
  if (call === 'function_call') return [hi, { type: call, call_id: id, name: 'x', arguments: '{}' }, item];
  if (call === 'custom_tool_call') return [hi, { type: call, call_id: id, name: 'x', input: 'x' }, item];
  const result = Object.entries(calls).find(([, one]) => one === type)?.[0];
  return result === undefined ? [item, hi] : [hi, item, { type: result, call_id: id, output: 'ok' }];
}

/** The name of a call or a result. */
function named(one: JsonValue | undefined): JsonValue {
  return isJsonObject(one) ? (one['name'] ?? 'x') : 'x';
}

function geminiDialogue(given: JsonObject[]): JsonObject[] {
  const [content] = given;
  const hi = { role: 'user', parts: [{ text: 'Hi' }] };
  if (content === undefined) return [hi];
  const parts = list(content['parts']);
  if (parts.some(({ functionResponse }) => functionResponse !== undefined)) {
    const functionCalls = parts.map(({ functionResponse: one }) => ({
      functionCall: {
        name: named(one),
        args: {},
        ...(isJsonObject(one) && one['id'] !== undefined && { id: one['id'] }),
      },
    }));
    return [hi, { role: 'model', parts: functionCalls }, { ...content, role: 'user' }] as JsonObject[];
  }
  if (!parts.some(({ functionCall }) => functionCall !== undefined)) return [{ ...content, role: 'user' }, hi];
  const answers = parts.map(({ functionCall: one }) => ({ functionResponse: { name: named(one), response: {} } }));
  return [hi, { ...content, role: 'model' }, { role: 'user', parts: answers }] as JsonObject[];
}

/** A schema means nothing without the type of the answer. */
function withType(body: JsonObject): JsonObject {
  const config = body['generationConfig'];
  if (!isJsonObject(config) || !Object.keys(config).some((name) => name.endsWith('Schema'))) return body;
  return { ...body, generationConfig: { responseMimeType: 'application/json', ...config } };
}
