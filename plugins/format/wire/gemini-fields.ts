import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { Entries, invalid, isMissing, type Placed } from './read.ts';

/**
 * Reads a member whose own members may be named in camelCase or snake_case: the API accepts both. Only its own members are
 * renamed, because inner objects may be data. Source: protobuf, "JSON Mapping".
 *
 * @throws GatewayError `invalid_request`
 */
export function readFields<U extends object, T extends object>(holder: Placed<T>, name: keyof T & string): Placed<U> {
  return holder.place(name, inCamelCase(holder.get(name)));
}

/** Reads a member like `readFields`; undefined if it is missing. */
export function maybeFields<U extends object, T extends object>(
  holder: Placed<T>,
  name: keyof T & string,
): Placed<U> | undefined {
  return holder.isMissing(name) ? undefined : readFields(holder, name);
}

export function inCamelCase(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? camelFields(value) : value;
}

/** Renames the members of an object to camelCase. Returns the object itself if all names are in camelCase, as most clients write them. */
export function camelFields(object: JsonObject): JsonObject {
  const names = Object.keys(object);
  if (!names.some((name) => name.includes('_'))) return object;
  // If both spellings are present, the documented one wins.
  const used = names.filter((name) => camelName(name) === name || !Object.hasOwn(object, camelName(name)));
  return Object.fromEntries(used.map((name) => [camelName(name), object[name]]));
}

/** Converts `max_output_tokens` to `maxOutputTokens`, which stays unchanged. */
export function camelName(name: string): string {
  if (!name.includes('_')) return name;
  return name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Reads the entries of a list. A single value counts as its only entry, as in the API; a missing value yields no entries. */
export function readMany<T extends object>(holder: Placed<T>, name: keyof T & string): readonly JsonValue[] {
  const value = holder.get(name);
  if (isMissing(value)) return [];
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object') throw invalid(holder.at(name), 'a list');
  return [value];
}

/** Iterates over the entries of a member. Each entry is read when it is reached. */
export function manyIn<U extends object, T extends object>(
  holder: Placed<T>,
  name: keyof T & string,
): IteratorObject<Placed<U>> {
  return new Entries(holder, name, readMany(holder, name), inCamelCase);
}

/** Reads an enumeration value in upper case; undefined if it is missing or unspecified. */
export function readWord<T extends object>(holder: Placed<T>, name: keyof T & string): string | undefined {
  const value = holder.maybeText(name)?.toUpperCase();
  return value === undefined || value === '' || value.endsWith('_UNSPECIFIED') ? undefined : value;
}

/**
 * Reads the members of an object, which may be in snake_case; empty for any other value.
 *
 * @template T type that declares the possible members
 */
export function fieldsOf<T extends Readonly<JsonObject> = JsonObject>(value: JsonValue | undefined): T {
  return (isJsonObject(value) ? camelFields(value) : {}) as T;
}
