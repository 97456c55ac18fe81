import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { asReminder } from '../../canonical/dialogue.ts';
import type { Adaptation } from '../contract/adaptation.ts';

interface DialogueWording {
  readonly member: string;
  readonly textType: string;
  /** True if user and assistant messages must alternate. */
  readonly alternates: boolean;
  /** The member with the instructions, in a format that keeps them outside the messages. */
  readonly instructions?: string;
}

/**
 * Turns late system messages into user messages for routes that reject them, in the same position, so that the prompt before a
 * message is unchanged. Only tool results are moved before it, because they must directly follow their calls.
 */
export function adaptLateSystem(wording: DialogueWording): Adaptation {
  return (body, { profile: { quirks }, notes }) => {
    const messages = body[wording.member];
    if ((quirks.late_system && !quirks.single_system) || !Array.isArray(messages)) return body;
    if (!messages.some(isSystem)) return body;
    const begin = messages.findIndex((message) => !isSystem(message));
    const leading = begin === -1 ? messages : messages.slice(0, begin);
    const others = messages.slice(leading.length);
    if (others.some(isSystem)) notes.approximate('late system message as user message');
    const { instructions } = wording;
    if (instructions === undefined) {
      return others.some(isSystem) ? { ...body, [wording.member]: [...leading, ...fold(others, wording)] } : body;
    }
    const folded = { ...body, [wording.member]: fold(others, wording) };
    return leading.length === 0
      ? folded
      : { ...folded, [instructions]: instructed(body[instructions], leading, wording) };
  };
}

function fold(messages: readonly JsonValue[], wording: DialogueWording): JsonValue[] {
  const writer = new Folder(wording);
  for (const message of messages) writer.add(message);
  return writer.finish();
}

class Folder {
  readonly #wording: DialogueWording;
  readonly #messages: JsonValue[] = [];
  /** Reminders that wait for the results of calls before them. */
  #waiting: JsonObject[] = [];
  /** True when the last message ends with a reminder. */
  #isReminded = false;

  constructor(wording: DialogueWording) {
    this.#wording = wording;
  }

  add(message: JsonValue): void {
    if (isSystem(message)) {
      const reminder = remind(message, this.#wording.textType);
      if (reminder !== undefined) this.#waiting.push(reminder);
    } else if (isResult(message)) this.#push(message, false);
    else {
      const [results, others] = this.#waiting.length === 0 ? [undefined, message] : splitResults(message);
      if (results !== undefined) this.#push(results, false);
      this.#release();
      if (others !== undefined) this.#push(others, this.#isReminded);
    }
  }

  finish(): JsonValue[] {
    this.#release();
    return this.#messages;
  }

  #release(): void {
    for (const reminder of this.#waiting) {
      this.#push(reminder, true);
      this.#isReminded = true;
    }
    this.#waiting = [];
  }

  #push(message: JsonValue, isJoined: boolean): void {
    const last = this.#messages.at(-1);
    this.#isReminded = false;
    if (isJoined && this.#wording.alternates && isUser(last) && isUser(message)) {
      this.#messages[this.#messages.length - 1] = join(last, message, this.#wording.textType);
    } else this.#messages.push(message);
  }
}

/** A string stays a string; parts stay parts and keep their other members, such as a cache breakpoint. */
function remind(message: JsonObject, textType: string): JsonObject | undefined {
  const { type, content: original } = message;
  const content = Array.isArray(original)
    ? remindParts(original, textType)
    : typeof original === 'string'
      ? asReminder(original)
      : '';
  if (content.length === 0 || (typeof original === 'string' && original.trim() === '')) return undefined;
  return { ...(type !== undefined && { type }), role: 'user', content };
}

function remindParts(parts: readonly JsonValue[], textType: string): JsonObject[] {
  return textsIn(parts, textType).map((part) => ({ ...part, text: asReminder(part.text) }));
}

type TextPart = JsonObject & { readonly text: string };

/** The non-empty text parts, with the type that the format uses. */
function textsIn(parts: readonly JsonValue[], type: string): TextPart[] {
  return parts.flatMap((part) => {
    const block = isJsonObject(part) ? part : { text: part };
    const { text } = block;
    return typeof text === 'string' && text.trim() !== '' ? [{ ...block, type, text }] : [];
  });
}

/** The instructions, followed by the system messages at the beginning of the dialogue. */
function instructed(
  given: JsonValue | undefined,
  leading: readonly JsonValue[],
  { textType }: DialogueWording,
): JsonValue[] {
  const parts = leading.flatMap((message) => (isJsonObject(message) ? partsOf(message['content'], textType) : []));
  return [...partsOf(given, textType), ...textsIn(parts, textType)];
}

function join(first: JsonObject, second: JsonObject, textType: string): JsonObject {
  return { ...first, content: [first, second].flatMap(({ content }) => partsOf(content, textType)) };
}

function partsOf(content: JsonValue | undefined, type: string): JsonValue[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type, text: content }] : [];
}

/** True for a message that is only the result of a call: a message of Chat, or an item of Responses. */
function isResult(message: JsonValue): boolean {
  if (!isJsonObject(message)) return false;
  const { role, type } = message;
  return role === 'tool' || role === 'function' || (typeof type === 'string' && type.endsWith('_output'));
}

/** Splits off the results in a user's message of Messages. */
function splitResults(message: JsonValue): [results: JsonObject | undefined, others: JsonValue | undefined] {
  if (!isUser(message) || !Array.isArray(message['content'])) return [undefined, message];
  const { content } = message;
  const results = content.filter((block) => isJsonObject(block) && block['type'] === 'tool_result');
  if (results.length === 0) return [undefined, message];
  const others = content.filter((block) => !results.includes(block));
  return [{ ...message, content: results }, others.length === 0 ? undefined : { ...message, content: others }];
}

function isSystem(message: JsonValue | undefined): message is JsonObject {
  return isJsonObject(message) && (message['role'] === 'system' || message['role'] === 'developer');
}

function isUser(message: JsonValue | undefined): message is JsonObject {
  return isJsonObject(message) && message['role'] === 'user';
}
