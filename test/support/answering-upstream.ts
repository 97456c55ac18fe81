import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { createUpstream } from './faulty-upstream.ts';

export interface AnsweringUpstream extends AsyncDisposable {
  readonly baseUrl: string; // with the version segment; `/chat/completions` is appended
}

const words = 'An upstream of the tests answers every request with these words.'.split(/(?= )/);
const usage = { prompt_tokens: 5, completion_tokens: words.length, total_tokens: 5 + words.length };

function createCall(tools: JsonValue | undefined) {
  const [first] = (tools ?? []) as { function: { name: string; parameters?: { required?: string[] } } }[];
  if (first === undefined) return undefined;
  const { name, parameters } = first.function;
  const input = Object.fromEntries((parameters?.required ?? []).map((argument) => [argument, 'ready']));
  return { id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

/**
 * An upstream that answers in Chat Completions, complete or streamed, and calls the first tool it is offered. Its `fail-…` models are out
 * of order. For tests of everything around the answer.
 *
 * @param pause ms before each word of a stream
 */
export async function startAnsweringUpstream(pause = 0): Promise<AnsweringUpstream> {
  const upstream = await createUpstream(
    async (request, response) => {
      if (!request.path.endsWith('/chat/completions'))
        return response.json(404, { error: { message: 'no such path', type: 'invalid_request_error' } });
      const { model, stream, stream_options: options, tools } = request.json<JsonObject>();
      if (typeof model !== 'string' || model.startsWith('fail-'))
        return response.json(503, { error: { message: 'out of order', type: 'server_error' } });
      const head = { id: 'chatcmpl-1', created: 1_790_000_000, model };
      const call = createCall(tools);
      const finish = call === undefined ? 'stop' : 'tool_calls';
      if (stream !== true) {
        const said = call === undefined ? { content: words.join('') } : { content: null, tool_calls: [call] };
        const choices = [{ index: 0, message: { role: 'assistant', refusal: null, ...said }, finish_reason: finish }];
        return response.json(200, { ...head, object: 'chat.completion', choices, usage });
      }
      const chunk = (members: object) => ({ ...head, object: 'chat.completion.chunk', ...members });
      const choice = (delta: object, reason: string | null = null) =>
        chunk({ choices: [{ index: 0, delta, finish_reason: reason, logprobs: null }] });
      const deltas =
        call === undefined ? words.map((content) => ({ content })) : [{ tool_calls: [{ index: 0, ...call }] }];
      response.sse(choice({ role: 'assistant', content: call === undefined ? '' : null }));
      for (const delta of deltas) {
        if (pause > 0) await sleep(pause);
        await response.event(choice(delta));
      }
      await response.event(choice({}, finish));
      if ((options as JsonObject | undefined)?.['include_usage'] === true)
        await response.event(chunk({ choices: [], usage }));
      await response.event('[DONE]');
      return response.end();
    },
    { keeps: false },
  );
  return { baseUrl: `${upstream.url}/v1`, [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose]() };
}
