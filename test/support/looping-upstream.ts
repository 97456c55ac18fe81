import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { createUpstream, type FaultyUpstream, type RecordedRequest } from './faulty-upstream.ts';

/** What a client asks, and what its conversation ends with after two calls of the tool `look`. */
export const loop = { question: 'Which way?', answer: 'Left.' };

/**
 * Imitates a model that calls the tool `look` twice, one call a turn, and then answers. It has no memory: without the
 * question or the tools in a request it says so instead. Speaks every upstream format by path. A Messages endpoint under a path with
 * `/threads/` holds message threads, each for the API key that began it.
 */
export function createLoopingUpstream(): Promise<FaultyUpstream> {
  const threads = new Map<string, JsonObject>();
  return createUpstream((request, response) => {
    const body = request.json<JsonObject>();
    if (!request.path.includes('/threads/')) return response.json(200, answerTo(request, body));
    const whole = continued(threads, body, String(request.headers['x-api-key']));
    if (whole === undefined) return response.json(404, threadError);
    const message = answerTo(request, whole);
    const id = `msg_${threads.size}`;
    const said = { role: 'assistant', content: message['content'] ?? [] };
    threads.set(`${String(request.headers['x-api-key'])} ${id}`, { ...whole, messages: [...listOf(whole), said] });
    return response.json(200, { ...message, id });
  });
}

const threadError = {
  type: 'error',
  error: { type: 'not_found_error', message: 'Not found.', details: { error_code: 'thread_not_found' } },
};

function listOf({ messages }: JsonObject): JsonValue[] {
  return Array.isArray(messages) ? messages : [];
}

function continued(threads: Map<string, JsonObject>, body: JsonObject, key: string): JsonObject | undefined {
  const { thread, ...own } = body;
  const previousId = isJsonObject(thread) ? thread['previous_message_id'] : undefined;
  if (previousId === undefined) return own;
  const begun = threads.get(`${key} ${String(previousId)}`);
  return begun && { ...begun, ...own, messages: [...listOf(begun), ...listOf(own)] };
}

function answerTo({ path }: RecordedRequest, body: JsonObject): JsonObject {
  const written = JSON.stringify(body);
  const isWhole = written.includes(loop.question) && written.includes('"look"') && written.includes('"tools"');
  const results = written.match(/"(function_call_output|tool_result|functionResponse)"|"role":"tool"/g)?.length ?? 0;
  const call = isWhole && results < 2 ? `call_${results + 1}` : undefined;
  const text = isWhole ? loop.answer : 'What do you mean?';
  if (path.endsWith('/messages')) return messagesReply(call, text);
  if (path.endsWith('/responses')) return responsesReply(call, text);
  if (path.endsWith('/chat/completions')) return chatReply(call, text);
  return path.endsWith('/chat') ? ollamaReply(call, text) : geminiReply(call, text);
}

function messagesReply(call: string | undefined, text: string): JsonObject {
  const content = call ? { type: 'tool_use', id: call, name: 'look', input: {} } : { type: 'text', text };
  const stop_reason = call ? 'tool_use' : 'end_turn';
  const usage = { input_tokens: 3, output_tokens: 2 };
  const head = { id: 'msg_x', type: 'message', role: 'assistant', model: 'there' };
  return { ...head, content: [content], stop_reason, stop_sequence: null, usage };
}

function responsesReply(call: string | undefined, text: string): JsonObject {
  const said = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' };
  const output = call
    ? { type: 'function_call', id: `fc_${call}`, call_id: call, name: 'look', arguments: '{}', status: 'completed' }
    : { ...said, content: [{ type: 'output_text', text, annotations: [] }] };
  const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
  return { id: 'resp_1', object: 'response', status: 'completed', model: 'there', output: [output], usage };
}

function chatReply(id: string | undefined, text: string): JsonObject {
  const message = id
    ? {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
      }
    : { role: 'assistant', content: text };
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const choices = [{ index: 0, message, finish_reason: id ? 'tool_calls' : 'stop' }];
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'there', choices, usage };
}

function ollamaReply(id: string | undefined, text: string): JsonObject {
  const calls = [{ id, function: { name: 'look', arguments: {} } }];
  const message = { role: 'assistant', ...(id ? { content: '', tool_calls: calls } : { content: text }) };
  const head = { model: 'there', created_at: '2026-01-01T00:00:00.000000Z' };
  return { ...head, message, done: true, done_reason: 'stop', prompt_eval_count: 3, eval_count: 2 };
}

/** Its signature is on the call, as Gemini 3 sends it, behind a text. */
function geminiReply(call: string | undefined, text: string): JsonObject {
  const thoughtSignature = Buffer.from(`signature of ${call}`).toString('base64');
  const parts = call
    ? [{ text: 'Looking.' }, { functionCall: { name: 'look', args: {} }, thoughtSignature }]
    : [{ text }];
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 };
  return { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }], usageMetadata };
}
