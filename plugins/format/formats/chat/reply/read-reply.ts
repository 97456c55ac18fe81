import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Citation } from '../../../canonical/reply.ts';
import { count, member } from '../../../wire/members.ts';
import { thoughtOf } from '../request/read-reasoning.ts';

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
export function readMessage(message: JsonObject): MessageContent {
  const { content } = message;
  const parts = Array.isArray(content) ? content : [];
  const plain = textOf(message['reasoning_content']) || textOf(message['reasoning']) || parts.map(thinkingOf).join('');
  const details = listOf(message['reasoning_details']).map(thoughtOf).join('');
  return {
    reasoning: plain || details,
    isDetailed: plain === '' && details !== '',
    text: textOf(content) || parts.map(textOfPart).join(''),
    refusal: textOf(message['refusal']) || parts.map((part) => textOf(member(part, 'refusal'))).join(''),
    citations: listOf(message['annotations']).flatMap(readCitation),
    calls: [...listOf(message['tool_calls']), ...oldCall(message['function_call'])],
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
  return member(part, 'type') === 'thinking' ? '' : textOf(member(part, 'text'));
}

function thinkingOf(part: JsonValue): string {
  const thinking = member(part, 'thinking');
  return textOf(thinking) || listOf(thinking).map(textOfPart).join('');
}

/** The deprecated form has no ids and at most one call. */
function oldCall(call: JsonValue | undefined): readonly JsonValue[] {
  return isJsonObject(call) ? [{ function: call }] : [];
}

function readCitation(annotation: JsonValue): Citation[] {
  const cited = member(annotation, 'url_citation') ?? annotation;
  const url = textOf(member(cited, 'url'));
  if (url === '') return [];
  return [
    {
      url,
      title: textOf(member(cited, 'title')) || undefined,
      quote: textOf(member(cited, 'content')) || undefined,
      start: count(member(cited, 'start_index')),
      end: count(member(cited, 'end_index')),
    },
  ];
}
