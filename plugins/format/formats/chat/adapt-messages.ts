import type { Profile } from '#core/config/catalog/profile.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Reasoning } from '../../canonical/conversation.ts';
import { Notes } from '../../canonical/notes.ts';
import { wantsReasoning } from '../../canonical/reasoning.ts';
import { asList, asText, member } from '../../wire/members.ts';
import { Placed } from '../../wire/read.ts';
import { mapEntries, without } from '../adaptation/adapt-members.ts';
import type { Adaptation, AdaptationTarget } from '../contract/adaptation.ts';
import { keptCallOf, readReasoning, thoughtSeparator } from './request/read-reasoning.ts';
import { hasThoughtsInContent, placeOfThoughts, placeThoughts, takesReasoning } from './request/place-thoughts.ts';
import type { ChatMessage, ChatPart, ChatRequest } from '../../wire/chat.ts';

type Change = (message: ChatMessage, path: string) => ChatMessage;

/**
 * Adapts messages to what Chat vendors require: restores the reasoning of earlier turns, and turns text parts into a string.
 *
 * @throws GatewayError `invalid_request` if reasoning is malformed
 */
export const adaptMessages: Adaptation = (body, target) => {
  const { messages }: ChatRequest = body;
  if (!Array.isArray(messages)) return body;
  const changes = changesFor(target, messages);
  if (changes.length === 0) return body;
  const adapted = mapEntries(messages, (message, index) => {
    if (!isJsonObject(message)) return message;
    return changes.reduce<ChatMessage>((changed, change) => change(changed, `messages[${index}]`), message);
  });
  return adapted === messages ? body : { ...body, messages: adapted };
};

function changesFor(target: AdaptationTarget, messages: readonly JsonValue[]): Change[] {
  const { profile } = target;
  const changes: Change[] = [];
  if (takesRestored(profile, true)) {
    const kept = new KeptTexts(messages, target);
    changes.push((message, path) => withThoughts(message, path, profile, kept));
  }
  if (profile.quirks.text_content) changes.push(withPlainText);
  return changes;
}

/**
 * Returns true if the reasoning of a message is to be restored. A vendor that reads it from `reasoning_content`, where clients return
 * it, gets it restored only if it is required.
 */
function takesRestored(profile: Profile, hasCalls: boolean): boolean {
  const isMember = placeOfThoughts(profile) === 'reasoning_content';
  return isMember ? wantsReasoning(profile, hasCalls) : takesReasoning(profile, hasCalls);
}

/**
 * Puts reasoning where the vendor expects it. Takes it from the store if the client did not return it. Lost reasoning becomes an empty
 * string if the vendor rejects a message without the member.
 */
function withThoughts(message: ChatMessage, path: string, profile: Profile, kept: KeptTexts): ChatMessage {
  const { role, reasoning_content: given, tool_calls: calls } = message;
  if (role !== 'assistant' || !takesRestored(profile, asList(calls).length > 0)) return message;
  const place = placeOfThoughts(profile);
  const isMember = place === 'reasoning_content';
  if (asText(message[place as 'reasoning']) !== '' || (!isMember && hasThoughtsInContent(message))) return message;
  const returnedTexts = textsOf(readReasoning(new Placed(message, path), new Notes()));
  const texts = returnedTexts.length > 0 ? returnedTexts : kept.before(calls);
  if (texts.length === 0 && (!isMember || given === '')) return message;
  const bare = isMember ? message : without(message, ['reasoning_content', 'reasoning']);
  return placeThoughts(bare, texts.join(thoughtSeparator), profile);
}

/** Finds the stored reasoning that precedes the calls of a message. */
class KeptTexts {
  readonly #byCall = new Map<JsonValue, readonly Reasoning[]>();
  readonly #target: AdaptationTarget;

  constructor(messages: readonly JsonValue[], target: AdaptationTarget) {
    this.#target = target;
    const { kept } = target;
    if (kept?.hasFound !== true) return;
    const calls = messages.flatMap((message) => asList(member<ChatMessage>(message, 'tool_calls')));
    const found = kept.before(calls.map(keptCallOf));
    for (const [index, call] of calls.entries()) this.#byCall.set(call, found[index] ?? []);
  }

  before(calls: JsonValue | undefined): string[] {
    const thoughts = asList(calls).flatMap((call) => this.#byCall.get(call) ?? []);
    return textsOf(thoughts.filter(({ state }) => state?.origin === this.#target.origin));
  }
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
