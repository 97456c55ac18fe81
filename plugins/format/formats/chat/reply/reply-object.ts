import type { Usage } from '#core/gateway/facts.ts';
import type { Block, CallHead, Citation, FinishReason } from '../../../canonical/reply.ts';
import type { ChatAnnotation, ChatCall, ChatReasoningDetail, ChatRequest, ChatUsage } from '../../../wire/chat.ts';

type ReasoningBlock = Extract<Block, { type: 'reasoning' }>;

/** How a client expects calls: as `tool_calls`, or as the deprecated `function_call`, of which a message has at most one. */
export type CallForm = 'tool_calls' | 'function_call';

export function createReplyId(exchangeId: string): string {
  return `chatcmpl-${exchangeId}`;
}

const finishReasons: Readonly<Record<Exclude<FinishReason, 'tool_calls'>, string>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  pause: 'length', // the format's only reason for an unfinished reply
  length: 'length',
  context_length: 'length',
  content_filter: 'content_filter',
};

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

/** Tool searches become functions, because the format has no type for them. */
export function writeCall({ id, name, form }: CallHead, input: string): ChatCall {
  if (form === 'freeform') return { id, type: 'custom', custom: { name, input } };
  return { id, type: 'function', function: { name, arguments: input } };
}

/** @param offset number of characters in the message's text before the citing block */
export function writeCitation({ url, title, start = 0, end = start }: Citation, offset: number): ChatAnnotation {
  const positions = { start_index: offset + start, end_index: offset + end };
  return { type: 'url_citation', url_citation: { url, title: title ?? url, ...positions } };
}

/**
 * Encodes the reasoning state that a client must send back, as an entry of OpenRouter's `reasoning_details`. `text_length` is the number of
 * characters of the joined reasoning text that belong to this state.
 */
export function writeReasoningState({ state, text }: ReasoningBlock, index: number): ChatReasoningDetail {
  return { type: 'reasoning.encrypted', data: state, index, text_length: text.length };
}

/** A client that sends only the deprecated `functions` expects the deprecated form. */
export function readCallForm({ functions, tools }: ChatRequest): CallForm {
  return Array.isArray(functions) && !Array.isArray(tools) ? 'function_call' : 'tool_calls';
}
