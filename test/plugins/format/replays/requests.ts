import type { JsonObject } from '#core/platform/json.ts';
import type { TextFormat } from '../../../support/formats.ts';
import { object, objects } from '../../../support/readers/answer.ts';

const parameters = { type: 'object', properties: { input: { type: 'string' } } };
const functions = ['get_weather', 'get_time', 'write_file'];
const question = [{ role: 'user', content: 'Go.' }];

/** Requests that allow everything an answer can hold. */
export const requests: Readonly<Record<TextFormat, JsonObject>> = {
  chat: {
    messages: question,
    stream_options: { include_usage: true },
    tools: [
      ...functions.map((name) => ({ type: 'function', function: { name, parameters } })),
      { type: 'custom', custom: { name: 'apply_patch' } },
    ],
  },
  responses: {
    input: 'Go.',
    store: false,
    include: ['reasoning.encrypted_content'],
    tools: [
      ...functions.map((name) => ({ type: 'function', name, parameters, strict: false })),
      { type: 'custom', name: 'apply_patch' },
    ],
  },
  messages: {
    messages: question,
    max_tokens: 4096,
    thinking: { type: 'enabled', budget_tokens: 2048 },
    tools: [...functions, 'apply_patch'].map((name) => ({ name, input_schema: parameters })),
  },
  gemini: {
    contents: [{ role: 'user', parts: [{ text: 'Go.' }] }],
    generationConfig: { thinkingConfig: { includeThoughts: true } },
    tools: [{ functionDeclarations: [...functions, 'apply_patch'].map((name) => ({ name, parameters })) }],
  },
};

/** The next turn: the answer unchanged, then a result for each call or another question, with reasoning on. */
export const nextTurns: Readonly<Record<TextFormat, (answer: JsonObject) => JsonObject>> = {
  chat(answer) {
    const message = object(objects(answer['choices'])[0]?.['message']);
    const results = objects(message['tool_calls']).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
    return {
      reasoning_effort: 'high',
      messages: [...question, message, ...(results.length > 0 ? results : question)] as JsonObject[],
    };
  },
  responses(answer) {
    const output = objects(answer['output']);
    const results = output.flatMap(({ type, call_id }) => {
      return type === 'function_call' ? [{ type: 'function_call_output', call_id, output: 'ok' }] : [];
    });
    return {
      reasoning: { effort: 'high' },
      input: [...question, ...output, ...(results.length > 0 ? results : question)] as JsonObject[],
    };
  },
  messages(answer) {
    const content = objects(answer['content']);
    const results = content.flatMap(({ type, id }) => {
      return type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] : [];
    });
    const next = results.length > 0 ? [{ role: 'user', content: results }] : question;
    return {
      thinking: { type: 'enabled', budget_tokens: 2048 },
      messages: [...question, { role: 'assistant', content }, ...next] as JsonObject[],
    };
  },
  gemini(answer) {
    const content = object(objects(answer['candidates'])[0]?.['content']);
    const results = objects(content['parts']).flatMap(({ functionCall }) => {
      const { id, name } = object(functionCall);
      return name === undefined ? [] : [{ functionResponse: { ...(id !== undefined && { id }), name, response: {} } }];
    });
    const next = results.length > 0 ? results : [{ text: 'Go on.' }];
    const asked = { role: 'user', parts: [{ text: 'Go.' }] };
    return { contents: [asked, content, { role: 'user', parts: next }] as JsonObject[] };
  },
};
