import type { JsonObject, JsonValue } from '#core/json.ts';
import type { Notes } from '../canonical/notes.ts';

/** True for a member that says something. */
export function isSet(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null;
}

/** Takes members out, and says so of each that is there. The very same body when none is. */
export function without(body: JsonObject, names: readonly string[], notes?: Notes): JsonObject {
  const found = names.filter((name) => isSet(body[name]));
  if (found.length === 0) return body;
  for (const name of found) notes?.drop(name);
  return Object.fromEntries(Object.entries(body).filter(([name]) => !found.includes(name)));
}

/** The body with another value of a member; without it where there is none. */
export function withMember(body: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  if (body[name] === value) return body;
  return value === undefined ? without(body, [name]) : { ...body, [name]: value };
}

/** The members of an object that are there; undefined where none is left. */
export function undefinedIfEmpty(object: JsonObject): JsonObject | undefined {
  return Object.keys(object).length === 0 ? undefined : object;
}

/** Changes what members say. The very same body when none says anything else. */
export function mapMembers(body: JsonObject, change: (name: string, value: JsonValue) => JsonValue): JsonObject {
  let changed = body;
  for (const [name, value] of Object.entries(body)) {
    if (!isSet(value)) continue;
    const next = change(name, value);
    if (next !== value) changed = { ...changed, [name]: next };
  }
  return changed;
}

/** Changes entries of a list. The very same list when none is another. */
export function mapEntries(list: JsonValue[], change: (entry: JsonValue, index: number) => JsonValue): JsonValue[] {
  const changed = list.map(change);
  return changed.some((entry, index) => entry !== list[index]) ? changed : list;
}
