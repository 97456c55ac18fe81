// One streamed request with a tool that the model must call, in each format. It proves the features that a coding tool needs.
import { errorMessage, readJson, request } from './gateway.mjs';
import { printable, run } from './run.mjs';

const answers = new Map();

/** Asks the model, once per run: several tools share it. Gives seconds, and problem, '' when the model called the tool. */
export function askModel(format, model) {
  const pair = `${format} ${model}`;
  if (!answers.has(pair)) answers.set(pair, ask(format, model));
  return answers.get(pair);
}

function ask(format, model) {
  const paths = { chat: '/v1/chat/completions', gemini: `/v1beta/models/${model}:streamGenerateContent?alt=sse` };
  const answer = request('POST', paths[format] ?? `/v1/${format}`, JSON.stringify(questionFor(format, model)), 120);
  // A stream that failed says why, and breaks off.
  const error = findError(messagesIn(answer.partial ?? ''));
  const problem = error || answer.failure.replace(/\.$/, '') || findProblem(format, model, answer);
  return { seconds: answer.seconds, problem };
}

const text = 'Call the tool report_ready with ok set to true. Do not answer with text.';
const name = 'report_ready';
const tool = { name, description: 'Reports that the setup works.' };
const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };

/** Sources: API references of OpenAI (Chat, Responses), Anthropic (Messages) and Google (generateContent). */
function questionFor(format, model) {
  const base = { model, stream: true };
  const messages = [{ role: 'user', content: text }];
  switch (format) {
    case 'chat':
      return {
        ...base,
        messages,
        tools: [{ type: 'function', function: { ...tool, parameters: schema } }],
        tool_choice: { type: 'function', function: { name } },
      };
    case 'responses':
      return {
        ...base,
        store: false,
        input: text,
        tools: [{ type: 'function', ...tool, strict: false, parameters: schema }],
        tool_choice: { type: 'function', name },
      };
    case 'messages':
      return {
        ...base,
        max_tokens: 1024,
        messages,
        tools: [{ ...tool, input_schema: schema }],
        tool_choice: { type: 'tool', name },
      };
    case 'gemini':
      return {
        contents: [{ role: 'user', parts: [{ text }] }],
        tools: [{ functionDeclarations: [{ ...tool, parameters: schema }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [name] } },
      };
  }
}

/** '' when the answer has a call of the tool and its end; else why not. */
function findProblem(format, model, answer) {
  if (answer.status !== 200) return explainRefusal(model, answer);
  const messages = messagesIn(answer.body);
  const error = findError(messages);
  if (error) return error;
  const hasEnd =
    format === 'chat' ? dataIn(answer.body).includes('[DONE]') : messages.some((message) => isEnd[format](message));
  if (!hasEnd) return 'the stream broke off before its end';
  return messages.some((message) => callsIn[format](message).includes(name))
    ? ''
    : `${model} answered without calling the tool`;
}

function findError(messages) {
  const error = messages.map(errorOf).find(Boolean);
  return error ? `the stream ended with an error: ${printable(error)}` : '';
}

function messagesIn(body) {
  return dataIn(body).map(readJson).filter(Boolean);
}

function dataIn(body) {
  return body.split(/(?:\r?\n){2,}/).map(dataOf);
}

function dataOf(event) {
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice(5).trim()).join('\n');
}

function explainRefusal(model, answer) {
  const message = errorMessage(answer);
  const more = message ? `: ${message}` : '';
  if (answer.status === 401) return `the key ${run.keyHint} is not valid`;
  if (answer.status === 402) return `no active plan${more}`;
  // Responses clients get 400 for a model that does not exist: they repeat a 404.
  if (answer.status === 404 || message.includes('" not found'))
    return `no such model: ${model}${message ? ` (${message})` : ''}`;
  return `the gateway answered with ${answer.status}${more}`;
}

/** `error` of Chat, Messages and Gemini, `response.error` and the event `error` of Responses. */
function errorOf(message) {
  const found = message.error ?? message.response?.error ?? (message.type === 'error' ? message : undefined);
  return typeof found === 'string' ? found : found?.message;
}

const isEnd = {
  responses: ({ type }) => type === 'response.completed',
  messages: ({ type }) => type === 'message_stop',
  gemini: ({ candidates }) => Boolean(candidates?.[0]?.finishReason),
};

const callsIn = {
  chat: ({ choices }) => (choices?.[0]?.delta?.tool_calls ?? []).map((call) => call.function?.name),
  responses: ({ item }) => [item?.name],
  messages: (message) => [message.content_block?.name],
  gemini: ({ candidates }) => (candidates?.[0]?.content?.parts ?? []).map((part) => part.functionCall?.name),
};
