import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { asReminder } from '../canonical/dialogue.ts';
import type { Adaptation } from '../pass-through/adaptation.ts';
import { textsOf } from '../request/members.ts';

/**
 * Says what a late system message says as the user, where only users may speak; in its place, so that the prompt before it
 * stays the same.
 */
export const adaptLateSystem: Adaptation = (body, { profile, notes }) => {
  const { messages } = body;
  if (profile.quirks.late_system || !Array.isArray(messages)) return body;
  const begin = messages.findIndex((message) => !isSystem(message));
  if (begin === -1 || !messages.slice(begin).some(isSystem)) return body;
  notes.approximate('late system message as user message');
  const adapted = messages.slice(0, begin);
  for (const message of messages.slice(begin)) push(adapted, message, begin);
  return { ...body, messages: adapted };
};

/** Users do not speak twice in a row: some templates refuse it. */
function push(messages: JsonValue[], message: JsonValue, begin: number): void {
  const last = messages.length > begin ? messages.at(-1) : undefined;
  const said = isSystem(message) ? [textPart(asReminder(textOf(message)))] : undefined;
  const isUserTwice = isUser(last) && (said !== undefined || (isUser(message) && endsWithReminder(last)));
  if (isUserTwice)
    messages[messages.length - 1] = { ...last, content: [...partsOf(last), ...(said ?? partsOf(message))] };
  else messages.push(said === undefined ? message : { role: 'user', content: said[0]?.['text'] ?? '' });
}

function isSystem(message: JsonValue | undefined): message is JsonObject {
  return isJsonObject(message) && (message['role'] === 'system' || message['role'] === 'developer');
}

function isUser(message: JsonValue | undefined): message is JsonObject {
  return isJsonObject(message) && message['role'] === 'user';
}

function endsWithReminder(message: JsonObject): boolean {
  const last = partsOf(message).at(-1);
  return isJsonObject(last) && String(last['text']).startsWith('<system-reminder>');
}

function partsOf(message: JsonValue): JsonValue[] {
  const content = isJsonObject(message) ? message['content'] : undefined;
  if (Array.isArray(content)) return content;
  return typeof content === 'string' ? [textPart(content)] : [];
}

function textPart(text: string): JsonObject {
  return { type: 'text', text };
}

function textOf({ content }: JsonObject): string {
  const parts = Array.isArray(content) ? content.map((part) => (isJsonObject(part) ? part['text'] : part)) : content;
  return textsOf(parts as JsonValue | undefined).join('\n\n');
}
