import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Citation } from '../../../canonical/reply.ts';
import { count, member } from '../../../wire/members.ts';
import { thoughtOf } from '../request/read-reasoning.ts';
import type { ChatAnnotation, ChatCitation, ChatMessage, ChatPart } from '../../../wire/chat.ts';

/** The content of a message or a delta. */
export interface MessageContent {
  readonly reasoning: string;
  /** True when the reasoning is only in `reasoning_details`, where MiniMax repeats all of it in each chunk. */
  readonly isDetailed: boolean;
  readonly text: string;
  readonly refusal: string;
  readonly citations: readonly Citation[];
  readonly calls: readonly JsonValue[];
}

/**
 * Reads a message or a delta. Sources: OpenAI API reference, "The chat completion object"; DeepSeek
 * (`reasoning_content`), OpenRouter (`reasoning`, `reasoning_details`), Mistral (`thinking` parts).
 */
export function readMessage(message: ChatMessage): MessageContent {
  const { content } = message;
  const parts = Array.isArray(content) ? content : [];
  const plain = textOf(message.reasoning_content) || textOf(message.reasoning) || parts.map(thinkingOf).join('');
  const details = listOf(message.reasoning_details).map(thoughtOf).join('');
  return {
    reasoning: plain || details,
    isDetailed: plain === '' && details !== '',
    text: textOf(content) || parts.map(textOfPart).join(''),
    refusal: textOf(message.refusal) || parts.map((part) => textOf(member<ChatPart>(part, 'refusal'))).join(''),
    citations: listOf(message.annotations).flatMap(readCitation),
    calls: [...listOf(message.tool_calls), ...oldCall(message.function_call)],
  };
}

/** The value if it is text, an empty one otherwise. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** An object in place of a list is its only entry. */
function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? [value] : [];
}

function textOfPart(part: JsonValue): string {
  if (typeof part === 'string') return part;
  return member<ChatPart>(part, 'type') === 'thinking' ? '' : textOf(member<ChatPart>(part, 'text'));
}

function thinkingOf(part: JsonValue): string {
  const thinking = member<ChatPart>(part, 'thinking');
  return textOf(thinking) || listOf(thinking).map(textOfPart).join('');
}

/** The deprecated form has no ids and at most one call. */
function oldCall(call: JsonValue | undefined): readonly JsonValue[] {
  return isJsonObject(call) ? [{ function: call }] : [];
}

function readCitation(annotation: JsonValue): Citation[] {
  const cited = member<ChatAnnotation>(annotation, 'url_citation') ?? annotation;
  const url = textOf(member<ChatCitation>(cited, 'url'));
  if (url === '') return [];
  return [
    {
      url,
      title: textOf(member<ChatCitation>(cited, 'title')) || undefined,
      quote: textOf(member<ChatCitation>(cited, 'content')) || undefined,
      start: count(member<ChatCitation>(cited, 'start_index')),
      end: count(member<ChatCitation>(cited, 'end_index')),
    },
  ];
}
