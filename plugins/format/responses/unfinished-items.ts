import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '#core/json.ts';

/** The place of a delta's text in an item: a member, or a member of a part. */
interface Place {
  readonly member: string;
  readonly parts?: { readonly list: 'content' | 'summary'; readonly index: string; readonly type: string };
}

const inContent = (type: string, member = 'text'): Place => ({
  member,
  parts: { list: 'content', index: 'content_index', type },
});
const places: Readonly<Record<string, Place>> = {
  'response.output_text.delta': inContent('output_text'),
  'response.refusal.delta': inContent('refusal', 'refusal'),
  'response.reasoning_text.delta': inContent('reasoning_text'),
  'response.reasoning_summary_text.delta': {
    member: 'text',
    parts: { list: 'summary', index: 'summary_index', type: 'summary_text' },
  },
  'response.function_call_arguments.delta': { member: 'arguments' },
  'response.mcp_call_arguments.delta': { member: 'arguments' },
  'response.custom_tool_call_input.delta': { member: 'input' },
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
  const place = places[String(event['type'])];
  const { delta } = event;
  if (place === undefined || typeof delta !== 'string') return;
  const holder = place.parts === undefined ? item : partOf(item, place.parts, event);
  if (holder === undefined) return;
  const before = holder[place.member];
  holder[place.member] = typeof before === 'string' ? before + delta : delta;
}

/** The part that an event belongs to, and begins if it is new. Undefined when its index skips others. */
function partOf(
  item: JsonObject,
  { list, index, type }: Required<Place>['parts'],
  event: JsonObject,
): JsonObject | undefined {
  const given = item[list];
  const parts = Array.isArray(given) ? given : [];
  item[list] = parts;
  const number = event[index] ?? 0;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > parts.length) return undefined;
  const known = parts[number];
  if (isJsonObject(known)) return known;
  const part: JsonObject = { type, ...(type === 'output_text' && { annotations: [] }) };
  parts[number] = part;
  return part;
}
