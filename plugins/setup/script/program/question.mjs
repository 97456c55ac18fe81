// Sends one streamed request in which the model must call a tool. This proves the features that a coding tool needs.

import { errorMessage, readJson, request } from './gateway.mjs';
import { printable, run } from './run.mjs';

const prompt = 'Call the tool report_ready with ok set to true. Do not answer with text.';
const toolName = 'report_ready';
const tool = { name: toolName, description: 'Reports that the setup works.' };
const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const messages = [{ role: 'user', content: prompt }];

const formats = {
  // Sources: API references of OpenAI (Chat, Responses), Anthropic (Messages) and Google (generateContent).
  chat: {
    path: '/v1/chat/completions',
    request: {
      stream: true,
      messages,
      tools: [{ type: 'function', function: { ...tool, parameters: schema } }],
      tool_choice: { type: 'function', function: { name: toolName } },
    },
    isEnd: (_, data) => data === '[DONE]',
    listCalls: ({ choices }) => (choices?.[0]?.delta?.tool_calls ?? []).map((call) => call.function?.name),
  },
  responses: {
    path: '/v1/responses',
    request: {
      stream: true,
      store: false,
      input: prompt,
      tools: [{ type: 'function', ...tool, strict: false, parameters: schema }],
      tool_choice: { type: 'function', name: toolName },
    },
    isEnd: ({ type }) => type === 'response.completed',
    listCalls: ({ item }) => [item?.name],
  },
  messages: {
    path: '/v1/messages',
    request: {
      stream: true,
      max_tokens: 1024,
      messages,
      tools: [{ ...tool, input_schema: schema }],
      tool_choice: { type: 'tool', name: toolName },
    },
    isEnd: ({ type }) => type === 'message_stop',
    listCalls: ({ content_block }) => [content_block?.name],
  },
  gemini: {
    path: '/v1beta/models/MODEL:streamGenerateContent?alt=sse',
    request: {
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      tools: [{ functionDeclarations: [{ ...tool, parameters: schema }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [toolName] } },
    },
    isEnd: ({ candidates }) => Boolean(candidates?.[0]?.finishReason),
    listCalls: ({ candidates }) => (candidates?.[0]?.content?.parts ?? []).map((part) => part.functionCall?.name),
  },
};

const results = new Map();

/** Asks once per run for all tools. `problem` is '' if the model called the tool. */
export function askModel(format, model) {
  const pair = `${format} ${model}`;
  if (!results.has(pair)) results.set(pair, testModel(formats[format], model));
  return results.get(pair);
}

function testModel(format, model) {
  const body = { ...(format.request.stream && { model }), ...format.request };
  const response = request('POST', format.path.replace('MODEL', model), JSON.stringify(body), 120);
  // A failed stream contains the reason and then breaks off.
  const error = findError(parseEvents(response.partial ?? ''));
  const problem = error || response.failure.replace(/\.$/, '') || findProblem(format, model, response);
  return { seconds: response.seconds, problem };
}

function findProblem({ isEnd, listCalls }, model, response) {
  if (response.status !== 200) return describeRefusal(model, response);
  const events = parseEvents(response.body);
  const error = findError(events);
  if (error) return error;
  if (!events.some(({ message, data }) => isEnd(message, data))) return 'the stream broke off before its end';
  const isCalled = events.some(({ message }) => listCalls(message).includes(toolName));
  return isCalled ? '' : `${model} answered without calling the tool`;
}

function findError(events) {
  const error = events.map(({ message }) => readError(message)).find(Boolean);
  return error ? `the stream ended with an error: ${printable(error)}` : '';
}

function parseEvents(body) {
  return body.split(/(?:\r?\n){2,}/).map((event) => {
    const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
    const data = lines.map((line) => line.slice(5).trim()).join('\n');
    return { data, message: readJson(data) ?? {} };
  });
}

function describeRefusal(model, response) {
  const message = errorMessage(response);
  const more = message ? `: ${message}` : '';
  if (response.status === 401) return `the key ${run.keyHint} is not valid`;
  if (response.status === 402) return `no active plan${more}`;
  // Responses clients get 400 for an unknown model, because they retry after 404.
  if (response.status === 404 || message.includes('" not found'))
    return `no such model: ${model}${message ? ` (${message})` : ''}`;
  return `the gateway answered with ${response.status}${more}`;
}

function readError(message) {
  // Chat, Messages and Gemini have `error`; Responses has `response.error` or the `error` event.
  const error = message.error ?? message.response?.error ?? (message.type === 'error' ? message : undefined);
  return typeof error === 'string' ? error : error?.message;
}
