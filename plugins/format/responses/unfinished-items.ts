import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '#core/json.ts';
import { type StreamedText, textPartOfEvent, writeTextPart } from './text-parts.ts';

/** Members of items that grow by deltas. */
const inputMembers: Readonly<Record<string, string>> = {
  'response.function_call_arguments.delta': 'arguments',
  'response.mcp_call_arguments.delta': 'arguments',
  'response.custom_tool_call_input.delta': 'input',
};

/**
 * The incomplete items of a broken answer.
 *
 * @param events their data, in order
 */
export function unfinishedItems(events: readonly string[]): JsonObject[] {
  const items = new Map<JsonValue | undefined, JsonObject>();
  for (const data of events) {
    const event = parseObject(data) ?? {};
    const { type, item, output_index: index } = event;
    const known = items.get(index);
    if (type === 'response.output_item.added' && isJsonObject(item)) items.set(index, item);
    else if (type === 'response.output_item.done') items.delete(index);
    else if (known !== undefined) grow(known, event);
  }
  return [...items.values()].map((item) => ({ ...item, status: 'incomplete' }));
}

function grow(item: JsonObject, event: JsonObject): void {
  const { type, delta } = event;
  if (typeof delta !== 'string' || !String(type).endsWith('.delta')) return;
  const part = textPartOfEvent(String(type));
  const member = part?.member ?? inputMembers[String(type)];
  const holder = part === undefined ? item : partOf(item, part, event);
  if (holder === undefined || member === undefined) return;
  const before = holder[member];
  holder[member] = typeof before === 'string' ? before + delta : delta;
}

/** The part that an event belongs to, and begins if it is new. Undefined when its index skips others. */
function partOf(item: JsonObject, kind: StreamedText, event: JsonObject): JsonObject | undefined {
  const given = item[kind.list];
  const parts = Array.isArray(given) ? given : [];
  item[kind.list] = parts;
  const number = event[kind.index] ?? 0;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > parts.length) return undefined;
  const known = parts[number];
  if (isJsonObject(known)) return known;
  const part = writeTextPart(kind, '');
  parts[number] = part;
  return part;
}
