import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { asReminder } from '../canonical/dialogue.ts';
import { textsOf } from '../request/members.ts';
import type { Adaptation } from './adaptation.ts';

/** How a format writes the messages of its dialogue. */
export interface DialogueWording {
  /** The member with the messages. */
  readonly member: string;
  /** What a part of text is called. */
  readonly textType: string;
  /** True where users may not speak twice in a row. */
  readonly alternates: boolean;
}

/**
 * Says what a late system message says as the user, where only users may speak; in its place, so that the prompt before it
 * stays the same.
 */
export function adaptLateSystem({ member, textType, alternates }: DialogueWording): Adaptation {
  return (body, { profile, notes }) => {
    const messages = body[member];
    if (profile.quirks.late_system || !Array.isArray(messages)) return body;
    const begin = messages.findIndex((message) => !isSystem(message));
    if (begin === -1 || !messages.slice(begin).some(isSystem)) return body;
    notes.approximate('late system message as user message');
    const adapted = messages.slice(0, begin);
    let isReminded = false;
    for (const message of messages.slice(begin)) {
      const last = adapted.length > begin ? adapted.at(-1) : undefined;
      const said = isSystem(message) ? remind(message, textType) : message;
      const isJoined = alternates && isUser(last) && isUser(said) && (isSystem(message) || isReminded);
      if (isJoined) adapted[adapted.length - 1] = join(last, said, textType);
      else adapted.push(said);
      isReminded = isSystem(message);
    }
    return { ...body, [member]: adapted };
  };
}

/** A string stays a string, parts stay parts. */
function remind(message: JsonObject, type: string): JsonObject {
  const text = asReminder(textOf(message));
  const { type: kind } = message;
  const content = Array.isArray(message['content']) ? [{ type, text }] : text;
  return { ...(kind !== undefined && { type: kind }), role: 'user', content };
}

function join(first: JsonObject, second: JsonObject, textType: string): JsonObject {
  return { ...first, content: [first, second].flatMap(({ content }) => partsOf(content, textType)) };
}

function partsOf(content: JsonValue | undefined, type: string): JsonValue[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' ? [{ type, text: content }] : [];
}

function isSystem(message: JsonValue | undefined): message is JsonObject {
  return isJsonObject(message) && (message['role'] === 'system' || message['role'] === 'developer');
}

function isUser(message: JsonValue | undefined): message is JsonObject {
  return isJsonObject(message) && message['role'] === 'user';
}

function textOf({ content }: JsonObject): string {
  const parts = Array.isArray(content) ? content.map((part) => (isJsonObject(part) ? part['text'] : part)) : content;
  return textsOf(parts as JsonValue | undefined).join('\n\n');
}
