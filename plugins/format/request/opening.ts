import type { BodyOutline } from '#core/gateway/pipeline/exchange.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#core/platform/json.ts';
import { member } from '../wire/members.ts';
import { rawElement } from './raw-element.ts';

const counted = 16_384; // characters that count
const searched = 262_144; // bytes of a long body in which the first message is looked for
/** Members in which the formats have the messages. */
const lists = ['messages', 'input', 'contents'];

/**
 * The texts of the first user message: the same at each turn of a conversation, whether its body is long or short, and whether a client
 * writes a text as a string or as a part. Instructions and tools are left out, since agents write the time there. The beginning of
 * the request where it has no messages.
 *
 * @param cut of a long body, whose texts are not whole in the outline
 */
export function openingOf(outline: JsonObject, cut?: BodyOutline): string {
  const list = lists.find((name) => outline[name] !== undefined);
  const messages = list === undefined ? undefined : outline[list];
  if (list === undefined || messages === undefined) return JSON.stringify(outline).slice(0, counted);
  if (!Array.isArray(messages)) return textsOf(messages);
  const first = Math.max(0, messages.findIndex(isOfUser));
  const whole = cut === undefined ? undefined : readWhole(cut, list, first);
  return textsOf(whole ?? messages[first] ?? '');
}

/** Only Gemini's messages may leave the role out, and have parts then. */
function isOfUser(message: JsonValue): boolean {
  const role = member(message, 'role');
  return role === 'user' || (role === undefined && member(message, 'parts') !== undefined);
}

/** The texts of a message; of other parts, what they are. */
function textsOf(message: JsonValue): string {
  const content = isJsonObject(message) ? (message['content'] ?? message['parts'] ?? message['text'] ?? null) : message;
  const texts: string[] = [];
  let left = counted;
  for (const part of Array.isArray(content) ? content : [content]) {
    if (left <= 0) break;
    texts.push(textOf(part).slice(0, left));
    left -= texts.at(-1)?.length ?? 0;
  }
  return texts.join('\0');
}

function textOf(part: JsonValue): string {
  const text = isJsonObject(part) ? (part['text'] ?? part['type'] ?? Object.keys(part)[0] ?? null) : part;
  return typeof text === 'string' ? text : JSON.stringify(text);
}

/** The message as it came, if it is in the first part of the body. */
function readWhole({ pieces }: BodyOutline, list: string, index: number): JsonValue | undefined {
  const [first] = pieces;
  if (first === undefined) return undefined;
  const text =
    rawElement(first, list, index) ?? (pieces.length === 1 ? undefined : rawElement(beginningOf(pieces), list, index));
  return text === undefined ? undefined : (parseJson(text) as JsonValue | undefined);
}

function beginningOf(pieces: readonly Buffer[]): Buffer {
  const all = pieces.reduce((bytes, { length }) => bytes + length, 0);
  return Buffer.concat(pieces, Math.min(all, searched));
}
