import type { Usage } from '#core/facts.ts';
import type { JsonObject } from '#core/json.ts';
import type { Block, CallHead, Citation, FinishReason } from '../canonical/reply.ts';

type Reasoning = Extract<Block, { type: 'reasoning' }>;

/** Pauses are for vendors' own tools, which no client of this format knows: to it the answer is over. */
const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  pause: 'stop',
  length: 'length',
  context_length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
};

/** @param isOld the client asked with `functions`, and knows only the old word */
export function writeFinish(finish: FinishReason, isOld: boolean): string {
  return isOld && finish === 'tool_calls' ? 'function_call' : reasons[finish];
}

/** Source: OpenAI API reference, "The chat completion object", `usage`. */
export function writeUsage({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      audio_tokens: 0,
      ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** A call as it opens. Searches are functions here: clients of this format have no other word. */
export function writeCall({ id, name, form }: CallHead, input: string): JsonObject {
  if (form === 'freeform') return { id, type: 'custom', custom: { name, input } };
  return { id, type: 'function', function: { name, arguments: input } };
}

/** @param before characters of the answer before the block that cites */
export function writeCitation({ url, title, start = 0, end = start }: Citation, before: number): JsonObject {
  const place = { start_index: before + start, end_index: before + end };
  return { type: 'url_citation', url_citation: { url, title: title ?? url, ...place } };
}

/**
 * What a client has to hand back for the reasoning to be of use, in the shape of OpenRouter's `reasoning_details`.
 * `text_length` tells how much of the text belongs to it: there is one text for all.
 */
export function writeReasoningState({ state, text }: Reasoning, index: number): JsonObject {
  return { type: 'reasoning.encrypted', data: state, index, text_length: text.length };
}

/** True when the client asked in the form of 2023, and understands no other. */
export function asksForOldCalls(request: JsonObject): boolean {
  return Array.isArray(request['functions']) && !Array.isArray(request['tools']);
}
