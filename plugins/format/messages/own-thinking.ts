import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { readTaggedState } from '../canonical/opaque-state.ts';
import { mapEntries, withMember } from '../pass-through/adapt-members.ts';
import type { AdaptationTarget } from '../pass-through/adaptation.ts';

/**
 * Drops the thinking that a route would reject, and with it every later request of the conversation: blocks without a
 * signature, and those whose signature has another origin or none that is known. A route that checks no signatures keeps
 * the text. A message that was nothing but thinking is left out; consecutive messages of one role are one turn. Source:
 * Anthropic docs, "Extended thinking".
 */
export function withOwnThinking(body: JsonObject, target: AdaptationTarget): JsonObject {
  const { messages } = body;
  if (!Array.isArray(messages)) return body;
  const kept = mapEntries(messages, (message) => withOwnBlocks(message, target));
  return kept === messages ? body : { ...body, messages: kept.filter((message) => message !== null) };
}

/** Null for a message of which nothing is left. */
function withOwnBlocks(message: JsonValue, target: AdaptationTarget): JsonValue {
  if (!isJsonObject(message) || message['role'] !== 'assistant' || !Array.isArray(message['content'])) return message;
  const content = mapEntries(message['content'], (block) => ownBlock(block, target));
  if (content === message['content']) return message;
  const left = content.filter((block) => block !== null);
  return left.length === 0 ? null : withMember(message, 'content', left);
}

/** The block as the route takes it; null when it takes none of it. */
function ownBlock(block: JsonValue, { origin, profile, notes }: AdaptationTarget): JsonValue {
  if (!isJsonObject(block)) return block;
  const { type, thinking } = block;
  if (type !== 'thinking' && type !== 'redacted_thinking') return block;
  const value = type === 'thinking' ? block['signature'] : block['data'];
  const state = typeof value === 'string' ? readTaggedState(value) : undefined;
  if (state?.origin === origin && state.kind !== 'none') return block;
  if (!profile.quirks.signed_thinking && type === 'thinking') return value === '' ? block : { ...block, signature: '' };
  const isEmpty = (thinking ?? '') === '' && (value ?? '') === '';
  if (!isEmpty) notes.drop(`reasoning of ${state === undefined ? 'unknown origin' : 'another upstream'}`);
  return null;
}
