import type { Profile } from '#core/config/catalog/profile.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Reasoning } from '../../canonical/conversation.ts';
import { Notes } from '../../canonical/notes.ts';
import { requiresReasoning } from '../../canonical/reasoning.ts';
import type { ChatMessage, ChatPart, ChatRequest } from '../../wire/chat.ts';
import { asList, asText, readMember } from '../../wire/members.ts';
import { BodyObject } from '../../wire/read.ts';
import { mapEntries, omitMembers, withMember } from '../adaptation/adapt-members.ts';
import type { Adaptation, AdaptationTarget } from '../contract/adaptation.ts';
import {
  hasReasoningInContent,
  selectReasoningPlace,
  placeReasoning,
  acceptsReasoning,
} from './request/place-reasoning.ts';
import { readCallIdentity, readReasoning, reasoningSeparator } from './request/read-reasoning.ts';

type MessageChange = (message: ChatMessage, path: string) => ChatMessage;

/**
 * Adapts messages to what Chat vendors require: restores the reasoning of earlier turns and joins text parts into a string.
 *
 * @throws GatewayError `invalid_request` if reasoning is malformed
 */
export const adaptMessages: Adaptation = (body, target) => {
  const { messages }: ChatRequest = body;
  if (!Array.isArray(messages)) return body;
  const changes = selectChanges(target, messages);
  if (changes.length === 0) return body;
  const adaptedMessages = mapEntries(messages, (message, index) => {
    if (!isJsonObject(message)) return message;
    return changes.reduce<ChatMessage>((changed, change) => change(changed, `messages[${index}]`), message);
  });
  return withMember(body, 'messages', adaptedMessages);
};

function selectChanges(target: AdaptationTarget, messages: readonly JsonValue[]): MessageChange[] {
  const { profile } = target;
  const changes: MessageChange[] = [];
  if (shouldRestore(profile, true)) {
    const store = new ReasoningByCall(messages, target);
    changes.push((message, path) => restoreReasoning(message, path, profile, store));
  }
  if (profile.quirks.text_content) changes.push(joinTextParts);
  return changes;
}

function shouldRestore(profile: Profile, hasCalls: boolean): boolean {
  const isMember = selectReasoningPlace(profile) === 'reasoning_content';
  // Clients return `reasoning_content`, so vendors that read it need it restored only if it is required.
  return isMember ? requiresReasoning(profile, hasCalls) : acceptsReasoning(profile, hasCalls);
}

function restoreReasoning(message: ChatMessage, path: string, profile: Profile, store: ReasoningByCall): ChatMessage {
  const { role, reasoning_content: received, tool_calls: calls } = message;
  if (role !== 'assistant' || !shouldRestore(profile, asList(calls).length > 0)) return message;
  const place = selectReasoningPlace(profile);
  const isMember = place === 'reasoning_content';
  if (asText(message[place as 'reasoning']) !== '' || (!isMember && hasReasoningInContent(message))) return message;
  const returnedTexts = nonEmptyTexts(readReasoning(new BodyObject(message, path), new Notes()));
  const texts = returnedTexts.length > 0 ? returnedTexts : store.readTextsBefore(calls);
  // Lost reasoning becomes an empty string if the vendor requires the member.
  if (texts.length === 0 && (!isMember || received === '')) return message;
  const bareMessage = isMember ? message : omitMembers(message, ['reasoning_content', 'reasoning']);
  return placeReasoning(bareMessage, texts.join(reasoningSeparator), profile);
}

class ReasoningByCall {
  readonly #byCall = new Map<JsonValue, readonly Reasoning[]>();
  readonly #target: AdaptationTarget;

  constructor(messages: readonly JsonValue[], target: AdaptationTarget) {
    this.#target = target;
    const { storedReasoning } = target;
    if (storedReasoning?.hasStored !== true) return;
    const calls = messages.flatMap((message) => asList(readMember<ChatMessage>(message, 'tool_calls')));
    const reasoningByCall = storedReasoning.findBefore(calls.map(readCallIdentity));
    for (const [index, call] of calls.entries()) this.#byCall.set(call, reasoningByCall[index] ?? []);
  }

  readTextsBefore(calls: JsonValue | undefined): string[] {
    const thoughts = asList(calls).flatMap((call) => this.#byCall.get(call) ?? []);
    return nonEmptyTexts(thoughts.filter(({ state }) => state?.origin === this.#target.origin));
  }
}

function nonEmptyTexts(thoughts: readonly Reasoning[]): string[] {
  return thoughts.flatMap(({ text }) => (text === '' ? [] : [text]));
}

function joinTextParts(message: ChatMessage): ChatMessage {
  const { content } = message;
  if (content === null) return { ...message, content: '' };
  if (!Array.isArray(content)) return message;
  const texts = content.flatMap((part) => readTexts(part));
  return texts.length === content.length ? { ...message, content: texts.join('\n\n') } : message;
}

function readTexts(part: JsonValue): string[] {
  const { type, text }: ChatPart = isJsonObject(part) ? part : {};
  return type === 'text' && typeof text === 'string' ? [text] : [];
}
