import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { OpaqueState, Reasoning } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { readTaggedState } from '../../../canonical/opaque-state.ts';
import type { HistoryCall, CallIdentity } from '../../../canonical/stored-reasoning.ts';
import type { ChatCall, ChatCallBody, ChatMessage, ChatReasoningDetail, ChatRequest } from '../../../wire/chat.ts';
import { asList, asText, asCount, readMember } from '../../../wire/members.ts';
import type { BodyObject } from '../../../wire/read.ts';

export const reasoningSeparator = '\n\n';

interface StateEntry {
  readonly state: OpaqueState;
  readonly length: number | undefined; // number of characters of the text that belong to the state; undefined if not given
}

/**
 * Reads the reasoning of an assistant message, for which OpenAI's format has no member. DeepSeek introduced `reasoning_content`, OpenRouter
 * `reasoning` and `reasoning_details`. Clients send back the members that they received.
 *
 * @throws GatewayError `invalid_request`
 */
export function readReasoning(message: BodyObject<ChatMessage>, notes: Notes): Reasoning[] {
  const details = message.isMissing('reasoning_details') ? [] : message.list('reasoning_details');
  const text = message.maybeText('reasoning_content') || readPlainReasoning(message.value, details);
  const states = details.flatMap((entry) => readReasoningState(entry, notes));
  if (states.length === 0) return text === '' ? [] : [{ type: 'reasoning', text, state: undefined }];
  return assignTexts(text, states) ?? [{ type: 'reasoning', text, state: undefined }, ...keepSignatures(states)];
}

function readPlainReasoning({ reasoning }: ChatMessage, details: readonly JsonValue[]): string {
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  return details.map(readDetailText).join('');
}

/** Reads the visible text of an entry in `reasoning_details`. Source: OpenRouter documentation, "Reasoning tokens". */
export function readDetailText(entry: JsonValue | undefined): string {
  if (!isJsonObject(entry)) return '';
  const { text, summary }: ChatReasoningDetail = entry;
  const visible = text ?? summary;
  return typeof visible === 'string' ? visible : '';
}

function readReasoningState(entry: JsonValue, notes: Notes): StateEntry[] {
  const { type, data, text_length: length }: ChatReasoningDetail = isJsonObject(entry) ? entry : {};
  if (type !== 'reasoning.encrypted') return [];
  const state = typeof data === 'string' ? readTaggedState(data) : undefined;
  if (state !== undefined) return [{ state, length: asCount(length) }];
  notes.drop('reasoning state of unknown origin');
  return [];
}

/** Google's signatures are valid without the text of the thoughts. */
function keepSignatures(states: readonly StateEntry[]): Reasoning[] {
  return states.flatMap(({ state }) => (state.kind === 'thought' ? [{ type: 'reasoning', text: '', state }] : []));
}

/** Upstreams reject a state with the wrong text. Undefined if the division is ambiguous. */
function assignTexts(text: string, states: readonly StateEntry[]): Reasoning[] | undefined {
  if (text === '' && states.some(hasLostText)) return undefined;
  const [only] = states;
  if (states.length === 1 && only !== undefined && (only.length === undefined || only.length === text.length)) {
    return [{ type: 'reasoning', text, state: only.state }];
  }
  const reasoning: Reasoning[] = [];
  let remainingText = text;
  for (const { state, length } of states) {
    if (length === undefined || length > remainingText.length) return undefined;
    reasoning.push({ type: 'reasoning', text: remainingText.slice(0, length), state });
    remainingText = remainingText.slice(length);
    if (length > 0 && remainingText.startsWith(reasoningSeparator))
      remainingText = remainingText.slice(reasoningSeparator.length);
  }
  return remainingText === '' ? reasoning : undefined;
}

/** A state of these kinds is useless without its text and length. */
function hasLostText({ state, length }: StateEntry): boolean {
  return length === undefined && (state.kind === 'signature' || state.kind === 'none');
}

/**
 * Finds the calls in a history and which of them lack their reasoning: most coding tools return only `content` and `tool_calls`.
 *
 * @param needsState true if the reasoning text alone is not enough
 */
export function findHistoryCalls({ messages }: ChatRequest, needsState: boolean): HistoryCall[] {
  return asList(messages).flatMap((message) => {
    const { tool_calls: calls, reasoning_content: text }: ChatMessage = isJsonObject(message) ? message : {};
    if (!isJsonObject(message) || !Array.isArray(calls)) return [];
    const hasText = typeof text === 'string' && text !== '';
    const lacksReasoning = !hasUsableState(message, hasText) && (needsState || !hasText);
    return calls.map((call) => ({ ...readCallIdentity(call), lacksReasoning }));
  });
}

export function readCallIdentity(entry: JsonValue): CallIdentity {
  const { id, type, function: namedFunction, custom }: ChatCall = isJsonObject(entry) ? entry : {};
  const isCustom = type === 'custom';
  const body = isCustom ? custom : namedFunction;
  return {
    id: asText(id),
    name: asText(readMember<ChatCallBody>(body, 'name')),
    input: asText(readMember<ChatCallBody>(body, isCustom ? 'input' : 'arguments')),
  };
}

/** Some SDKs drop the state or its text, and most vendors reject a state without its text. */
function hasUsableState({ reasoning_details: details }: ChatMessage, hasText: boolean): boolean {
  if (!Array.isArray(details) || details.length === 0) return false;
  return hasText || details.every((entry) => !lacksText(entry));
}

function lacksText(entry: JsonValue): boolean {
  const length = asCount(readMember<ChatReasoningDetail>(entry, 'text_length'));
  const state = readTaggedState(asText(readMember<ChatReasoningDetail>(entry, 'data')));
  return (length ?? 0) > 0 || (state !== undefined && hasLostText({ state, length }));
}
