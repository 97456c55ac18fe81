import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Reasoning } from '../../canonical/conversation.ts';
import { Notes } from '../../canonical/notes.ts';
import { wantsReasoning } from '../../canonical/reasoning.ts';
import { nineCharacters } from '../../canonical/openai.ts';
import { asText, member } from '../../wire/members.ts';
import { mapEntries, mapMembers, without } from '../adaptation/adapt-members.ts';
import type { Adaptation, AdaptationTarget } from '../contract/adaptation.ts';
import { readReasoning, thoughtSeparator } from './request/read-reasoning.ts';
import { hasThoughtsInContent, placeOfThoughts, placeThoughts, takesReasoning } from './request/place-thoughts.ts';
import type { ChatCall, ChatMessage, ChatPart, ChatRequest } from '../../wire/chat.ts';

type Change = (message: ChatMessage, path: string) => ChatMessage;

/**
 * Adapts messages to what vendors of the Chat format require: reasoning of earlier turns, text that is a string, ids of
 * nine characters.
 *
 * @throws GatewayError `invalid_request` when reasoning is malformed
 */
export const adaptMessages: Adaptation = (body, target) => {
  const { messages }: ChatRequest = body;
  const changes = changesFor(target);
  if (changes.length === 0 || !Array.isArray(messages)) return body;
  const changed = mapEntries(messages, (message, index) =>
    isJsonObject(message)
      ? changes.reduce<ChatMessage>((before, change) => change(before, `messages[${index}]`), message)
      : message,
  );
  return changed === messages ? body : { ...body, messages: changed };
};

function changesFor(target: AdaptationTarget): Change[] {
  const { profile } = target;
  const { text_content: isText, tool_call_ids: ids } = profile.quirks;
  const changes: Change[] = [];
  const isMember = placeOfThoughts(profile) === 'reasoning_content';
  // What the client has given back as a member is where most vendors look for it.
  if (wantsReasoning(profile, true) || (takesReasoning(profile, true) && !isMember)) {
    const restore = isMember ? withThoughts : withPlacedThoughts;
    changes.push((message, path) => restore(message, path, target));
  }
  if (isText) changes.push(withPlainText);
  if (ids === 'nine_characters') changes.push(withShortIds);
  return changes;
}

/**
 * Reasoning that the client has not returned comes from the store. If it is lost, it is the empty string, because the
 * vendor refuses a message without the member.
 */
function withThoughts(message: ChatMessage, path: string, target: AdaptationTarget): ChatMessage {
  const { role, reasoning_content: thoughts, tool_calls: calls } = message;
  const isWanted = wantsReasoning(target.profile, Array.isArray(calls) && calls.length > 0);
  if (role !== 'assistant' || !isWanted || (typeof thoughts === 'string' && thoughts !== '')) return message;
  const returned = textsOf(readReasoning(message, path, new Notes()));
  const found = returned.length > 0 ? returned : keptTexts(calls, target);
  if (found.length === 0 && thoughts === '') return message;
  return { ...message, reasoning_content: found.join(thoughtSeparator) };
}

/** Reasoning that belongs to another place of the message, if the client has not left it there. */
function withPlacedThoughts(message: ChatMessage, path: string, target: AdaptationTarget): ChatMessage {
  const { role, tool_calls: calls } = message;
  const { profile } = target;
  const isTaken = takesReasoning(profile, Array.isArray(calls) && calls.length > 0);
  if (role !== 'assistant' || !isTaken || hasThoughtsInContent(message)) return message;
  const returned = textsOf(readReasoning(message, path, new Notes()));
  const found = returned.length > 0 ? returned : keptTexts(calls, target);
  if (found.length === 0 || asText(message[placeOfThoughts(profile) as 'reasoning']) !== '') return message;
  const bare = without(message, ['reasoning_content', 'reasoning']);
  return placeThoughts(bare, found.join(thoughtSeparator), profile);
}

function keptTexts(calls: JsonValue | undefined, { kept, origin }: AdaptationTarget): string[] {
  if (kept === undefined || !Array.isArray(calls)) return [];
  const ids = calls.map((call) => member<ChatCall>(call, 'id')).filter((id) => typeof id === 'string');
  return textsOf(ids.flatMap((id) => kept.before(id)).filter(({ state }) => state.origin === origin));
}

function textsOf(thoughts: readonly Reasoning[]): string[] {
  return thoughts.flatMap(({ text }) => (text === '' ? [] : [text]));
}

function withPlainText(message: ChatMessage): ChatMessage {
  const { content } = message;
  if (content === null) return { ...message, content: '' };
  if (!Array.isArray(content)) return message;
  const texts = content.flatMap((part) => partText(part));
  return texts.length === content.length ? { ...message, content: texts.join('\n\n') } : message;
}

function partText(part: JsonValue): string[] {
  const { type, text }: ChatPart = isJsonObject(part) ? part : {};
  return type === 'text' && typeof text === 'string' ? [text] : [];
}

function withShortIds(message: ChatMessage): ChatMessage {
  return mapMembers(message, (name, value) => {
    if (name === 'tool_call_id' && typeof value === 'string') return nineCharacters(value);
    return name === 'tool_calls' && Array.isArray(value) ? mapEntries(value, withShortId) : value;
  });
}

function withShortId(call: JsonValue): JsonValue {
  if (!isJsonObject(call)) return call;
  const { id }: ChatCall = call;
  const short = typeof id === 'string' ? nineCharacters(id) : id;
  return short === id ? call : { ...call, id: short };
}
