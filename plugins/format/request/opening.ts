import type { BodyOutline } from '#core/gateway/pipeline/exchange.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#core/platform/json.ts';
import { readMember } from '../wire/members.ts';
import { findRawElement } from './raw-element.ts';

const maxOpeningLength = 16_384; // characters
const searchWindow = 262_144; // bytes of a long body that are searched for the first message
const messageListNames = ['messages', 'input', 'contents'];

/**
 * Reads the texts of the first user message. They are the same in each turn of a conversation, whether the body is long or short and
 * whether the client writes a text as a string or as a part. Instructions and tools are omitted, because agents put the time there. Falls
 * back to the start of the request if it has no messages.
 *
 * @param bodyOutline given if the body is long; its texts are then incomplete in `outline`
 */
export function readOpening(outline: JsonObject, bodyOutline?: BodyOutline): string {
  const listName = messageListNames.find((name) => outline[name] !== undefined);
  const messages = listName === undefined ? undefined : outline[listName];
  if (listName === undefined || messages === undefined) return JSON.stringify(outline).slice(0, maxOpeningLength);
  if (!Array.isArray(messages)) return readTexts(messages);
  const index = Math.max(0, messages.findIndex(isUserMessage));
  const completeMessage = bodyOutline === undefined ? undefined : readMessageNearStart(bodyOutline, listName, index);
  return readTexts(completeMessage ?? messages[index] ?? '');
}

function isUserMessage(message: JsonValue): boolean {
  const role = readMember(message, 'role');
  // Only messages with parts, as in Gemini, may lack a role.
  return role === 'user' || (role === undefined && readMember(message, 'parts') !== undefined);
}

function readTexts(message: JsonValue): string {
  const content = isJsonObject(message) ? (message['content'] ?? message['parts'] ?? message['text'] ?? null) : message;
  const texts: string[] = [];
  let remainingLength = maxOpeningLength;
  for (const part of Array.isArray(content) ? content : [content]) {
    if (remainingLength <= 0) break;
    const text = readText(part).slice(0, remainingLength);
    texts.push(text);
    remainingLength -= text.length;
  }
  return texts.join('\0');
}

function readText(part: JsonValue): string {
  const text = isJsonObject(part) ? (part['text'] ?? part['type'] ?? Object.keys(part)[0] ?? null) : part;
  return typeof text === 'string' ? text : JSON.stringify(text);
}

function readMessageNearStart({ pieces }: BodyOutline, list: string, index: number): JsonValue | undefined {
  const [first] = pieces;
  if (first === undefined) return undefined;
  const text =
    findRawElement(first, list, index) ??
    (pieces.length === 1 ? undefined : findRawElement(joinStart(pieces), list, index));
  return text === undefined ? undefined : (parseJson(text) as JsonValue | undefined);
}

function joinStart(pieces: readonly Buffer[]): Buffer {
  const totalBytes = pieces.reduce((bytes, { length }) => bytes + length, 0);
  return Buffer.concat(pieces, Math.min(totalBytes, searchWindow));
}
