import type { Usage } from '#core/gateway/facts.ts';
import type { Block, CallHead, Citation, FinishReason } from '../../../canonical/reply.ts';
import type { ChatAnnotation, ChatCall, ChatReasoningDetail, ChatRequest, ChatUsage } from '../../../wire/chat.ts';

type ReasoningBlock = Extract<Block, { type: 'reasoning' }>;

/** Maps a pause for the vendor's own tools to `length`, the only reason of this format for an unfinished reply. */
const finishReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  pause: 'length',
  length: 'length',
  context_length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
};

/**
 * Encodes a finish reason.
 *
 * @param isOld true if the client sent `functions` and supports only the deprecated reason
 */
export function writeFinish(finish: FinishReason, isOld: boolean): string {
  return isOld && finish === 'tool_calls' ? 'function_call' : finishReasons[finish];
}

/** Encodes usage. Source: OpenAI API reference, "The chat completion object", `usage`. */
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

/** Encodes a call. Searches become functions, because the format has no type for them. */
export function writeCall({ id, name, form }: CallHead, input: string): ChatCall {
  if (form === 'freeform') return { id, type: 'custom', custom: { name, input } };
  return { id, type: 'function', function: { name, arguments: input } };
}

/**
 * Encodes a citation.
 *
 * @param before number of characters of the message's text before the citing block
 */
export function writeCitation({ url, title, start = 0, end = start }: Citation, before: number): ChatAnnotation {
  const place = { start_index: before + start, end_index: before + end };
  return { type: 'url_citation', url_citation: { url, title: title ?? url, ...place } };
}

/**
 * Encodes the reasoning state that a client must send back, as an entry of OpenRouter's `reasoning_details`. `text_length` is the
 * number of characters of the joined reasoning text that belong to this state.
 */
export function writeReasoningState({ state, text }: ReasoningBlock, index: number): ChatReasoningDetail {
  return { type: 'reasoning.encrypted', data: state, index, text_length: text.length };
}

/** Returns true if the client sent the deprecated `functions` and supports only `function_call`. */
export function usesDeprecatedCalls(request: ChatRequest): boolean {
  return Array.isArray(request.functions) && !Array.isArray(request.tools);
}
