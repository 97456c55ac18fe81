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

/** Reads a member in the same way; undefined if it is missing. */
export function maybeFields<U extends object, T extends object>(
  holder: Placed<T>,
  name: keyof T & string,
): Placed<U> | undefined {
  return holder.isMissing(name) ? undefined : readFields(holder, name);
}

export function inCamelCase(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? camelFields(value) : value;
}

/** The object itself if all its names are in camelCase, as most clients write them. */
export function camelFields(object: JsonObject): JsonObject {
  const names = Object.keys(object);
  if (!names.some((name) => name.includes('_'))) return object;
  // If both spellings are present, the documented one wins.
  const kept = names.filter((name) => camelName(name) === name || !Object.hasOwn(object, camelName(name)));
  return Object.fromEntries(kept.map((name) => [camelName(name), object[name]]));
}

/** Returns `maxOutputTokens` for `max_output_tokens` and for `maxOutputTokens`. */
export function camelName(name: string): string {
  if (!name.includes('_')) return name;
  return name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The entries of a list; a single value counts as its only entry, as in the API. Empty if the value is missing. */
export function readMany<T extends object>(holder: Placed<T>, name: keyof T & string): readonly JsonValue[] {
  const value = holder.get(name);
  if (isMissing(value)) return [];
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object') throw invalid(holder.at(name), 'a list');
  return [value];
}

/** The entries of a member, each read when it is reached. */
export function manyIn<U extends object, T extends object>(
  holder: Placed<T>,
  name: keyof T & string,
): IteratorObject<Placed<U>> {
  return new Entries(holder, name, readMany(holder, name), inCamelCase);
}

/** An enumeration value in upper case; undefined if it is missing or unspecified. */
export function readWord<T extends object>(holder: Placed<T>, name: keyof T & string): string | undefined {
  const word = holder.maybeText(name)?.toUpperCase();
  return word === undefined || word === '' || word.endsWith('_UNSPECIFIED') ? undefined : word;
}

/** The members of an object; empty for any other value. @template T type that declares the possible members */
export function fieldsOf<T extends Readonly<JsonObject> = JsonObject>(value: JsonValue | undefined): T {
  return (isJsonObject(value) ? camelFields(value) : {}) as T;
}
