import type { Usage } from '#core/gateway/facts.ts';
import type { Block, CallHead, Citation, FinishReason } from '../../../canonical/reply.ts';
import type { ChatAnnotation, ChatCall, ChatReasoningDetail, ChatRequest, ChatUsage } from '../../../wire/chat.ts';

type Reasoning = Extract<Block, { type: 'reasoning' }>;

/** A pause for the vendor's own tools leaves the answer unfinished, and clients of this format know no other word for that. */
const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  pause: 'length',
  length: 'length',
  context_length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
};

/** @param isOld the client sent `functions`, and knows only the deprecated reason */
export function writeFinish(finish: FinishReason, isOld: boolean): string {
  return isOld && finish === 'tool_calls' ? 'function_call' : reasons[finish];
}

/** Source: OpenAI API reference, "The chat completion object", `usage`. */
export function writeUsage({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage): ChatUsage {
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

/** A call as it opens. Searches are functions here, because the format has no other word. */
export function writeCall({ id, name, form }: CallHead, input: string): ChatCall {
  if (form === 'freeform') return { id, type: 'custom', custom: { name, input } };
  return { id, type: 'function', function: { name, arguments: input } };
}

/** @param before characters of the answer before the block that cites */
export function writeCitation({ url, title, start = 0, end = start }: Citation, before: number): ChatAnnotation {
  const place = { start_index: before + start, end_index: before + end };
  return { type: 'url_citation', url_citation: { url, title: title ?? url, ...place } };
}

/**
 * The reasoning state that a client must send back, in the shape of OpenRouter's `reasoning_details`. `text_length` is
 * the length of its part of the one reasoning text.
 */
export function writeReasoningState({ state, text }: Reasoning, index: number): ChatReasoningDetail {
  return { type: 'reasoning.encrypted', data: state, index, text_length: text.length };
}

/** True when the client sent the deprecated `functions`, and understands only `function_call`. */
export function usesDeprecatedCalls(request: ChatRequest): boolean {
  return Array.isArray(request.functions) && !Array.isArray(request.tools);
}
