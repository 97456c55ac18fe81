import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Citation, FinishReason, Fragment } from '../canonical/reply.ts';
import { count, member } from '../request/members.ts';
import { thoughtOf } from './read-reasoning.ts';

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
  const plain = text(message['reasoning_content']) || text(message['reasoning']) || parts.map(thinkingOf).join('');
  const details = listOf(message['reasoning_details']).map(thoughtOf).join('');
  return {
    reasoning: plain || details,
    isDetailed: plain === '' && details !== '',
    text: text(content) || parts.map(textOfPart).join(''),
    refusal: text(message['refusal']) || parts.map((part) => text(member(part, 'refusal'))).join(''),
    citations: listOf(message['annotations']).flatMap(readCitation),
    calls: [...listOf(message['tool_calls']), ...oldCall(message['function_call'])],
  };
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** An object in place of a list is its only entry. */
function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? [value] : [];
}

function textOfPart(part: JsonValue): string {
  if (typeof part === 'string') return part;
  return member(part, 'type') === 'thinking' ? '' : text(member(part, 'text'));
}

function thinkingOf(part: JsonValue): string {
  const thinking = member(part, 'thinking');
  return text(thinking) || listOf(thinking).map(textOfPart).join('');
}

/** The deprecated form has no ids and at most one call. */
function oldCall(call: JsonValue | undefined): readonly JsonValue[] {
  return isJsonObject(call) ? [{ function: call }] : [];
}

function readCitation(annotation: JsonValue): Citation[] {
  const cited = member(annotation, 'url_citation') ?? annotation;
  const url = text(member(cited, 'url'));
  if (url === '') return [];
  return [
    {
      url,
      title: text(member(cited, 'title')) || undefined,
      quote: text(member(cited, 'content')) || undefined,
      start: count(member(cited, 'start_index')),
      end: count(member(cited, 'end_index')),
    },
  ];
}

/** Finish reasons of all vendors, without those for failures. */
const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['end_turn', 'stop'],
  ['complete', 'stop'],
  ['stop_sequence', 'stop_sequence'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['model_length', 'context_length'],
  ['model_context_window_exceeded', 'context_length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
]);
const failures = new Set(['error', 'network_error', 'insufficient_system_resource', 'abort']);

/**
 * `failed`: the vendor has aborted the answer. Undefined while the answer continues. An unknown reason ends the answer.
 */
export function readFinish(choice: JsonObject): Extract<Fragment, { type: 'finish' }> | 'failed' | undefined {
  const word = text(choice['finish_reason']).toLowerCase();
  if (word === '' || word === 'null') return undefined;
  if (failures.has(word)) return 'failed';
  const reason = reasons.get(word) ?? 'stop';
  // vLLM reports the stop sequence.
  const stop = text(choice['stop_reason']);
  const isSequence = reason === 'stop' && stop !== '' && !reasons.has(stop.toLowerCase());
  return isSequence
    ? { type: 'finish', reason: 'stop_sequence', stopSequence: stop }
    : { type: 'finish', reason, stopSequence: undefined };
}
