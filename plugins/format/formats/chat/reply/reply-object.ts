import type { Usage } from '#core/gateway/facts.ts';
import type { Block, CallHead, Citation, FinishReason } from '../../../canonical/reply.ts';
import type { ChatAnnotation, ChatCall, ChatReasoningDetail, ChatRequest, ChatUsage } from '../../../wire/chat.ts';

type ReasoningBlock = Extract<Block, { type: 'reasoning' }>;

/** The form of calls that a client supports: `tool_calls`, or the deprecated `function_call`, which a message has at most once. */
export type CallForm = 'tool_calls' | 'function_call';

/** Creates the id of a reply from the id of its exchange. */
export function createReplyId(exchangeId: string): string {
  return `chatcmpl-${exchangeId}`;
}

/** Maps a pause for the vendor's own tools to `length`, the only reason of this format for an unfinished reply. */
const finishReasons: Readonly<Record<Exclude<FinishReason, 'tool_calls'>, string>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  pause: 'length',
  length: 'length',
  context_length: 'length',
  content_filter: 'content_filter',
};

/** Encodes a finish reason. The reasons for calls have the names of their forms. */
export function writeFinish(finish: FinishReason, callForm: CallForm): string {
  return finish === 'tool_calls' ? callForm : finishReasons[finish];
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
 * @param offset number of characters of the message's text before the citing block
 */
export function writeCitation({ url, title, start = 0, end = start }: Citation, offset: number): ChatAnnotation {
  const positions = { start_index: offset + start, end_index: offset + end };
  return { type: 'url_citation', url_citation: { url, title: title ?? url, ...positions } };
}

/**
 * Encodes the reasoning state that a client must send back, as an entry of OpenRouter's `reasoning_details`. `text_length` is the
 * number of characters of the joined reasoning text that belong to this state.
 */
export function writeReasoningState({ state, text }: ReasoningBlock, index: number): ChatReasoningDetail {
  return { type: 'reasoning.encrypted', data: state, index, text_length: text.length };
}

/** Reads the form of calls that the client supports, which is deprecated if it sent only the deprecated `functions`. */
export function readCallForm({ functions, tools }: ChatRequest): CallForm {
  return Array.isArray(functions) && !Array.isArray(tools) ? 'function_call' : 'tool_calls';
}
