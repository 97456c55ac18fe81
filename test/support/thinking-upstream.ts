import type { JsonObject } from '#core/platform/json.ts';
import { createUpstream, type FaultyUpstream, type Handler } from './faulty-upstream.ts';

/** What the upstream thinks before its calls, and the opaque state. */
export const thoughts = { text: 'Both at once.', state: 'OPAQUE' };

/**
 * Imitates models that think before they call two tools, and that answer once the results have arrived, in Chat, Responses and Messages.
 * The Messages endpoint rejects thinking without its signature.
 */
export function createThinkingUpstream(): Promise<FaultyUpstream> {
  return createUpstream((request, response) => {
    const body = request.json<JsonObject>();
    if (request.path.endsWith('/responses')) return response.json(200, responsesBody(hasResults(body['input'])));
    if (request.path.endsWith('/messages')) return answerMessages(body, response);
    return answerChat(body, response);
  });
}

type Response = Parameters<Handler>[1];

function hasResults(messages: unknown): boolean {
  return /"(function_call_output|tool_result)"|"role":"tool"/.test(JSON.stringify(messages));
}

function responsesCall(id: string, name: string): JsonObject {
  return { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: '{}', status: 'completed' };
}

function chatCall(index: number, id: string, name: string): JsonObject {
  return { index, id, type: 'function', function: { name, arguments: '{}' } };
}

function responsesBody(isDone: boolean): JsonObject {
  const said = { type: 'output_text', text: 'Done.', annotations: [] };
  const output: JsonObject[] = isDone
    ? [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [said] }]
    : [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: thoughts.text }],
          encrypted_content: thoughts.state,
        },
        responsesCall('call_1', 'look'),
        responsesCall('call_2', 'wait'),
      ];
  const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
  return { id: 'resp_1', object: 'response', status: 'completed', model: 'there', output, usage };
}

function answerMessages(body: JsonObject, response: Response): void {
  const foreign = JSON.stringify(body).match(/"type":"thinking"(?!,"thinking":"Both at once.","signature":"OPAQUE")/);
  if (foreign !== null)
    return response.json(400, { type: 'error', error: { type: 'x', message: 'Invalid signature' } });
  const isDone = hasResults(body['messages']);
  const content = isDone
    ? [{ type: 'text', text: 'Done.' }]
    : [
        { type: 'thinking', thinking: thoughts.text, signature: thoughts.state },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'call_1', name: 'look', input: {} },
        { type: 'tool_use', id: 'call_2', name: 'wait', input: {} },
      ];
  const usage = { input_tokens: 3, output_tokens: 2 };
  const stop_reason = isDone ? 'end_turn' : 'tool_use';
  response.json(200, { id: 'msg_1', type: 'message', role: 'assistant', model: 'there', content, stop_reason, usage });
}

function answerChat(body: JsonObject, response: Response): void {
  const isDone = hasResults(body['messages']);
  const calls = [chatCall(0, 'call_1', 'look'), chatCall(1, 'call_2', 'wait')];
  const said = isDone ? { content: 'Done.' } : { content: null, reasoning_content: thoughts.text, tool_calls: calls };
  const finish_reason = isDone ? 'stop' : 'tool_calls';
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const head = { id: 'c1', created: 1, model: 'there' };
  if (body['stream'] !== true) {
    const message = { role: 'assistant', ...said };
    const choices = [{ index: 0, message, finish_reason }];
    return response.json(200, { ...head, object: 'chat.completion', choices, usage });
  }
  const chunk = (delta: JsonObject, ending: string | null = null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: ending }],
  });
  const begin = { role: 'assistant', content: null };
  const deltas: JsonObject[] = isDone
    ? [{ content: 'Done.' }]
    : [
        { reasoning_content: 'Both at ' },
        { reasoning_content: 'once.' },
        ...calls.map((one) => ({ tool_calls: [one] })),
      ];
  response.sse(
    ...[begin, ...deltas].map((delta) => chunk(delta)),
    chunk({}, finish_reason),
    { ...head, choices: [], usage },
    '[DONE]',
  );
  response.end();
}
