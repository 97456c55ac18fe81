import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ChatChoice, ChatMessage, ChatReply } from '../../../wire/chat.ts';
import { asText } from '../../../wire/members.ts';

const plainReasons = new Set<unknown>(['stop', 'length', 'content_filter']);
const plainMembers = new Set(['role', 'content', 'annotations']);

/**
 * Returns the choice of a non-streaming reply that has only text and all members that clients require, as most replies do; undefined for a
 * reply that may need a repair.
 */
export function readCleanChoice(body: ChatReply): ChatChoice | undefined {
  const { object, choices } = body;
  if (object !== 'chat.completion' || !Array.isArray(choices) || choices.length !== 1 || !hasRequiredMembers(body))
    return undefined;
  const [choice] = choices;
  if (!isJsonObject(choice)) return undefined;
  const { index, delta: misplaced, finish_reason: reason, message }: ChatChoice = choice;
  const isClean = index === 0 && misplaced === undefined && plainReasons.has(reason) && isPlainMessage(message);
  return isClean ? choice : undefined;
}

/** Returns true if a reply or chunk has the id, time and model that clients require. */
export function hasRequiredMembers({ id, created, model }: ChatReply): boolean {
  return asText(id) !== '' && typeof created === 'number' && typeof model === 'string';
}

function isPlainMessage(message: JsonValue | undefined): boolean {
  if (!isJsonObject(message)) return false;
  const { role, content }: ChatMessage = message;
  if (asText(role) === '' || asText(content) === '') return false;
  for (const name in message) if (message[name] !== null && !plainMembers.has(name)) return false;
  return true;
}
