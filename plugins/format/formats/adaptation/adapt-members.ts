import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import type { Adaptation } from '../contract/adaptation.ts';

export function isSet(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null;
}

const omittableValues: ReadonlyMap<string, readonly JsonValue[]> = new Map<string, JsonValue[]>([
  ['defer_loading', [false]],
  ['eager_input_streaming', [false, true]],
  ['frequency_penalty', [0]],
  ['logprobs', [false]],
  ['n', [1]],
  ['parallel_tool_calls', [true]],
  ['presence_penalty', [0]],
  ['service_tier', ['auto', 'default']],
  ['store', [false]],
  ['temperature', [1]],
  ['tool_choice', ['auto']],
  ['top_logprobs', [0]],
  ['top_p', [1]],
]);

export function canOmit(name: string, value: JsonValue | undefined): boolean {
  if (!isSet(value) || value === '') return true;
  if (typeof value === 'object') return Object.keys(value).length === 0 && !JSON.isRawJSON(value);
  return omittableValues.get(name)?.includes(value) === true;
}

/** Removes members, including null ones, and notes those whose loss has an effect. Returns the same body if none is present. */
export function omitMembers<T extends Readonly<JsonObject>>(
  body: T,
  names: readonly (keyof NoInfer<T> & string)[],
  notes?: Notes,
): T {
  const presentNames: readonly string[] = names.filter((name) => body[name] !== undefined);
  if (presentNames.length === 0) return body;
  for (const name of presentNames) if (!canOmit(name, body[name])) notes?.drop(name);
  return Object.fromEntries(Object.entries(body).filter(([name]) => !presentNames.includes(name))) as T;
}

/** The value `undefined` removes the member. Returns the same body if the value is the same. */
export function withMember<T extends Readonly<JsonObject>>(
  body: T,
  name: keyof NoInfer<T> & string,
  value: JsonValue | undefined,
): T {
  if (body[name] === value) return body;
  return value === undefined ? omitMembers(body, [name]) : { ...body, [name]: value };
}

/** Returns the same body if no value changes. */
export function mapMembers(body: JsonObject, change: (name: string, value: JsonValue) => JsonValue): JsonObject {
  let mapped = body;
  for (const [name, value] of Object.entries(body)) {
    if (!isSet(value)) continue;
    const newValue = change(name, value);
    if (newValue !== value) mapped = { ...mapped, [name]: newValue };
  }
  return mapped;
}

/** Returns the same list if no entry changes. */
export function mapEntries(list: JsonValue[], change: (entry: JsonValue, index: number) => JsonValue): JsonValue[] {
  let mapped: JsonValue[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const entry = list[index] as JsonValue;
    const newEntry = change(entry, index);
    if (newEntry !== entry) mapped ??= list.slice(0, index);
    mapped?.push(newEntry);
  }
  return mapped ?? list;
}

/** Returns the same body if no entry changes or the member is not a list. */
export function mapListMember<T extends Readonly<JsonObject>>(
  body: T,
  name: keyof NoInfer<T> & string,
  change: (entry: JsonValue) => JsonValue,
): T {
  const list = body[name];
  return Array.isArray(list) ? withMember(body, name, mapEntries(list, change)) : body;
}

/** Returns the same body if no object changes or the member is not a list. */
export function mapObjects(body: JsonObject, name: string, change: (entry: JsonObject) => JsonObject): JsonObject {
  return mapListMember(body, name, (entry) => (isJsonObject(entry) ? change(entry) : entry));
}

export function adaptMember(name: string, adapt: Adaptation): Adaptation {
  return (body, target) => {
    const inner = body[name];
    return isJsonObject(inner) ? withMember(body, name, adapt(inner, target)) : body;
  };
}
