import { JsonCursor } from '#core/platform/json-scan.ts';
import { isJsonObject, type JsonValue, parseJson } from '#core/platform/json.ts';
import { findRepeatedAnswer } from '../state/responses-store/repeated-answer.ts';
import { asText } from '../wire/members.ts';
import type { ResponsesItem } from '../wire/responses.ts';
import { readInputItems } from './compose-body.ts';
import { maxSteps } from './member-spans.ts';
import type { ClientFrame } from './read-frame.ts';

const comma = 0x2c;
const separator = Buffer.from(',');

/**
 * Reads the items that an event adds to its conversation, like `readInputItems`, but omits those that repeat the answer that the event
 * continues. Only items that can do so are parsed.
 *
 * @param lastItems last items of the kept conversation, as written by `separateItems`; undefined for a new conversation
 */
export function readNewItems(frame: ClientFrame, lastItems: Buffer | undefined): Buffer {
  const bytes = readInputItems(frame);
  if (lastItems === undefined || !isCall(bytes)) return bytes;
  const items = splitItems(bytes) ?? [];
  const values = items.map((item) => (isCall(item) || item.includes('"assistant"') ? parseItem(item) : null));
  const repeatedIndexes = findRepeatedAnswer(values, readAnswer(splitItems(lastItems.subarray(0, -1)) ?? []));
  if (repeatedIndexes.size === 0) return bytes;
  const newItems = items.filter((_item, index) => !repeatedIndexes.has(index));
  return Buffer.concat(newItems.flatMap((item, index) => (index === 0 ? [item] : [separator, item])));
}

function isCall(bytes: Buffer): boolean {
  // Ends the type of a call; within a text, the quote would be escaped.
  return bytes.includes('_call"');
}

function splitItems(bytes: Buffer): Buffer[] | undefined {
  const cursor = new JsonCursor(bytes.toString('latin1'), 0, maxSteps);
  const items: Buffer[] = [];
  do {
    const item = cursor.readValue();
    if (item === undefined) return undefined;
    items.push(bytes.subarray(cursor.position - item.length, cursor.position));
  } while (cursor.consume(comma));
  return cursor.isAtEnd() ? items : undefined;
}

/** Reads the last response's output: the items after the last one that a client has sent. */
function readAnswer(items: readonly Buffer[]): JsonValue[] {
  const answer: JsonValue[] = [];
  for (const bytes of items.toReversed()) {
    const item = parseItem(bytes);
    if (!isOutput(item)) break;
    answer.unshift(item);
  }
  return answer;
}

function isOutput(item: JsonValue): boolean {
  if (!isJsonObject(item)) return false;
  const { type, role }: ResponsesItem = item;
  return role === undefined ? !asText(type).endsWith('_output') : role === 'assistant';
}

function parseItem(bytes: Buffer): JsonValue {
  return (parseJson(bytes.toString()) ?? null) as JsonValue;
}
