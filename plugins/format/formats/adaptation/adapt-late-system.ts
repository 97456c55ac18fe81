import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { writeReminder } from '../../canonical/dialogue.ts';
import type { Adaptation } from '../contract/adaptation.ts';

/** Where a format keeps its dialogue. */
interface DialogueShape {
  /** The member that holds the messages. */
  readonly member: string;
  /** Type of text parts. */
  readonly textType: string;
  /** True if user and assistant messages must alternate. */
  readonly mustAlternate: boolean;
  /** The member that holds the instructions, in a format that keeps them outside the messages. */
  readonly instructions?: string;
}

/**
 * Turns late system messages into user messages for routes that reject them. They keep their position, so that the prompt before them stays
 * the same. Only tool results move ahead of them, because they must directly follow their calls.
 */
export function adaptLateSystem(shape: DialogueShape): Adaptation {
  const { member, instructions } = shape;
  return (body, { profile: { quirks }, notes }) => {
    const messages = body[member];
    if ((quirks.late_system && !quirks.single_system) || !Array.isArray(messages)) return body;
    if (!messages.some(isSystem)) return body;
    const leading = messages.slice(0, countLeadingSystem(messages));
    const dialogue = messages.slice(leading.length);
    const hasLateSystem = dialogue.some(isSystem);
    if (hasLateSystem) notes.approximate('late system message as user message');
    if (instructions === undefined) {
      return hasLateSystem ? { ...body, [member]: [...leading, ...placeReminders(dialogue, shape)] } : body;
    }
    const adaptedBody = { ...body, [member]: placeReminders(dialogue, shape) };
    if (leading.length === 0) return adaptedBody;
    return { ...adaptedBody, [instructions]: appendInstructions(body[instructions], leading, shape) };
  };
}

/** Counts the system messages at the start of a dialogue. */
export function countLeadingSystem(messages: readonly JsonValue[]): number {
  const index = messages.findIndex((message) => !isSystem(message));
  return index === -1 ? messages.length : index;
}

function placeReminders(messages: readonly JsonValue[], shape: DialogueShape): JsonValue[] {
  const reminders = new Set<JsonValue>();
  const entries = messages.flatMap((message): JsonValue[] => {
    if (!isSystem(message)) return [message];
    const reminder = toReminder(message, shape.textType);
    if (reminder === undefined) return [];
    reminders.add(reminder);
    return [reminder];
  });
  const ordered = moveResults(entries, reminders);
  const placed: JsonValue[] = [];
  for (const [index, message] of ordered.entries()) {
    const lastMessage = placed.at(-1);
    const isAtReminder = [message, ordered[index - 1] ?? null].some((entry) => reminders.has(entry));
    const isJoined = shape.mustAlternate && isAtReminder && isUser(lastMessage) && isUser(message);
    if (isJoined) placed[placed.length - 1] = joinMessages(lastMessage, message, shape.textType);
    else placed.push(message);
  }
  return placed;
}

/** Moves results ahead of the reminders that separate them from their calls. */
function moveResults(entries: readonly JsonValue[], reminders: ReadonlySet<JsonValue>): JsonValue[] {
  let waiting: JsonValue[] = [];
  const ordered = entries.flatMap((entry): JsonValue[] => {
    if (reminders.has(entry)) {
      waiting.push(entry);
      return [];
    }
    if (waiting.length === 0 || isResult(entry)) return [entry];
    const [results, others] = splitResults(entry);
    const around = [results, ...waiting, others].filter((part) => part !== undefined);
    waiting = [];
    return around;
  });
  return [...ordered, ...waiting];
}

/** Returns the reminder that replaces a system message; undefined if the message has no text. */
function toReminder({ type, content }: JsonObject, textType: string): JsonObject | undefined {
  const reminder = toReminderContent(content, textType);
  return reminder === undefined ? undefined : { ...(type !== undefined && { type }), role: 'user', content: reminder };
}

/** Converts content. A string stays a string, and parts keep their other members, such as a cache breakpoint. */
function toReminderContent(content: JsonValue | undefined, textType: string): string | JsonObject[] | undefined {
  if (!Array.isArray(content)) {
    return typeof content === 'string' && content.trim() !== '' ? writeReminder(content) : undefined;
  }
  const parts = readTextParts(content, textType);
  return parts.length === 0 ? undefined : parts.map((part) => ({ ...part, text: writeReminder(part.text) }));
}

type TextPart = JsonObject & { readonly text: string };

/** Reads the non-empty text parts and gives them the format's type. */
function readTextParts(parts: readonly JsonValue[], type: string): TextPart[] {
  return parts.flatMap((part) => {
    const block = isJsonObject(part) ? part : { text: part };
    const { text } = block;
    return typeof text === 'string' && text.trim() !== '' ? [{ ...block, type, text }] : [];
  });
}

function appendInstructions(
  instructions: JsonValue | undefined,
  leading: readonly JsonValue[],
  { textType }: DialogueShape,
): JsonValue[] {
  const parts = leading.flatMap((message) => (isJsonObject(message) ? toParts(message['content'], textType) : []));
  return [...toParts(instructions, textType), ...readTextParts(parts, textType)];
}

function joinMessages(first: JsonObject, second: JsonObject, textType: string): JsonObject {
  return { ...first, content: [first, second].flatMap(({ content }) => toParts(content, textType)) };
}

/** Returns content as a list of parts. A string becomes a text part of the given type. */
export function toParts(content: JsonValue | undefined, type: string): JsonValue[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type, text: content }] : [];
}

/** Returns true for a message that only holds a call's result: a message in Chat, an item in Responses. */
function isResult(message: JsonValue): boolean {
  if (!isJsonObject(message)) return false;
  const { role, type } = message;
  return role === 'tool' || role === 'function' || (typeof type === 'string' && type.endsWith('_output'));
}

/** Splits the tool_result blocks off a user message in the Messages format. */
function splitResults(message: JsonValue): [results: JsonObject | undefined, others: JsonValue | undefined] {
  if (!isUser(message) || !Array.isArray(message['content'])) return [undefined, message];
  const { content } = message;
  const results = content.filter((block) => isJsonObject(block) && block['type'] === 'tool_result');
  if (results.length === 0) return [undefined, message];
  const otherBlocks = content.filter((block) => !results.includes(block));
  return [
    { ...message, content: results },
    otherBlocks.length === 0 ? undefined : { ...message, content: otherBlocks },
  ];
}

/** Returns true for a message with the role `system` or `developer`. */
export function isSystem(message: JsonValue | undefined): message is JsonObject {
  return isJsonObject(message) && (message['role'] === 'system' || message['role'] === 'developer');
}

function isUser(message: JsonValue | undefined): message is JsonObject {
  return isJsonObject(message) && message['role'] === 'user';
}
