import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { writeReminder } from '../../canonical/dialogue.ts';
import type { Adaptation } from '../contract/adaptation.ts';

interface DialogueShape {
  readonly messagesMember: string;
  readonly textType: string;
  readonly mustAlternate: boolean;
  /** Missing if the format keeps its instructions among the messages. */
  readonly instructionsMember?: string;
}

/**
 * Turns late system messages into user messages for routes that reject them. They keep their position, so that the prompt before them stays
 * the same. Only tool results move ahead of them, because they must directly follow their calls.
 */
export function adaptLateSystem(shape: DialogueShape): Adaptation {
  const { messagesMember, instructionsMember } = shape;
  return (body, { profile: { quirks }, notes }) => {
    const messages = body[messagesMember];
    if ((quirks.late_system && !quirks.single_system) || !Array.isArray(messages)) return body;
    if (!messages.some(isSystem)) return body;
    const leading = messages.slice(0, countLeadingSystem(messages));
    const dialogue = messages.slice(leading.length);
    const hasLateSystem = dialogue.some(isSystem);
    if (hasLateSystem) notes.approximate('late system message as user message');
    if (instructionsMember === undefined) {
      return hasLateSystem ? { ...body, [messagesMember]: [...leading, ...placeReminders(dialogue, shape)] } : body;
    }
    const adaptedBody = { ...body, [messagesMember]: placeReminders(dialogue, shape) };
    if (leading.length === 0) return adaptedBody;
    return { ...adaptedBody, [instructionsMember]: appendInstructions(body[instructionsMember], leading, shape) };
  };
}

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
  let waitingReminders: JsonValue[] = [];
  const ordered = entries.flatMap((entry): JsonValue[] => {
    if (reminders.has(entry)) {
      waitingReminders.push(entry);
      return [];
    }
    if (waitingReminders.length === 0 || isResult(entry)) return [entry];
    const [results, others] = splitResultBlocks(entry);
    const around = [results, ...waitingReminders, others].filter((part) => part !== undefined);
    waitingReminders = [];
    return around;
  });
  return [...ordered, ...waitingReminders];
}

function toReminder({ type, content }: JsonObject, textType: string): JsonObject | undefined {
  const reminder = toReminderContent(content, textType);
  return reminder === undefined ? undefined : { ...(type !== undefined && { type }), role: 'user', content: reminder };
}

function toReminderContent(content: JsonValue | undefined, textType: string): string | JsonObject[] | undefined {
  if (!Array.isArray(content)) {
    return typeof content === 'string' && content.trim() !== '' ? writeReminder(content) : undefined;
  }
  const parts = readTextParts(content, textType);
  // Parts keep their other members, such as a cache breakpoint.
  return parts.length === 0 ? undefined : parts.map((part) => ({ ...part, text: writeReminder(part.text) }));
}

type TextPart = JsonObject & { readonly text: string };

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

/** Chat has messages for results, Responses has items. */
function isResult(message: JsonValue): boolean {
  if (!isJsonObject(message)) return false;
  const { role, type } = message;
  return role === 'tool' || role === 'function' || (typeof type === 'string' && type.endsWith('_output'));
}

/** In Messages, results are blocks of a user message. */
function splitResultBlocks(message: JsonValue): [results: JsonObject | undefined, others: JsonValue | undefined] {
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

export function isSystem(message: JsonValue | undefined): message is JsonObject {
  return isJsonObject(message) && (message['role'] === 'system' || message['role'] === 'developer');
}

function isUser(message: JsonValue | undefined): message is JsonObject {
  return isJsonObject(message) && message['role'] === 'user';
}
