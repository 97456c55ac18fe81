import { isJsonObject, type JsonObject } from '#core/json.ts';
import { textOf } from '../read-reply.ts';

/** Finish reasons that OpenAI publishes for an answer without calls. */
const plainReasons = new Set<unknown>(['stop', 'length', 'content_filter']);
/** Members of a message that the repair leaves alone when there is nothing but text; others only as null. */
const plainMembers = new Set(['role', 'content', 'annotations']);

/**
 * True for a whole reply with one answer that is nothing but text and has all that clients insist on: most replies. False
 * for any that may need a repair.
 */
export function isCleanReply(body: JsonObject): boolean {
  const { object, choices } = body;
  if (object !== 'chat.completion' || !Array.isArray(choices) || choices.length !== 1) return false;
  if (!hasHead(body)) return false;
  const [choice] = choices;
  if (!isJsonObject(choice) || choice['index'] !== 0 || choice['delta'] !== undefined) return false;
  return plainReasons.has(choice['finish_reason']) && isPlainMessage(choice['message']);
}

/** True when the members that every reply and chunk must have are there. */
export function hasHead({ id, created, model }: JsonObject): boolean {
  return textOf(id) !== '' && typeof created === 'number' && typeof model === 'string';
}

function isPlainMessage(message: JsonObject[string]): boolean {
  if (!isJsonObject(message) || textOf(message['role']) === '' || textOf(message['content']) === '') return false;
  for (const name in message) if (message[name] !== null && !plainMembers.has(name)) return false;
  return true;
}
