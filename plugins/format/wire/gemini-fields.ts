import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { GeminiGenerationConfig, GeminiRequest } from './gemini.ts';
import { EntryIterator, invalidValue, isMissing, type BodyObject } from './read.ts';

/**
 * Reads a member whose own members may be named in camelCase or snake_case, because the API accepts both. Only its own members are renamed,
 * because inner objects may be data. Source: protobuf, "JSON Mapping".
 *
 * @throws GatewayError `invalid_request`
 */
export function readFields<U extends object, T extends object>(
  holder: BodyObject<T>,
  name: keyof T & string,
): BodyObject<U> {
  return holder.place(name, toCamelFields(holder.get(name)));
}

export function readFieldsIfPresent<U extends object, T extends object>(
  holder: BodyObject<T>,
  name: keyof T & string,
): BodyObject<U> | undefined {
  return holder.isMissing(name) ? undefined : readFields(holder, name);
}

export function toCamelFields(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? renameToCamelCase(value) : value;
}

/** Renames an object's members to camelCase. Returns the object itself if all names already are, as in most requests. */
export function renameToCamelCase(object: JsonObject): JsonObject {
  const names = Object.keys(object);
  if (!names.some((name) => name.includes('_'))) return object;
  // If both spellings occur, the documented one wins.
  const usedNames = names.filter((name) => toCamelCase(name) === name || !Object.hasOwn(object, toCamelCase(name)));
  return Object.fromEntries(usedNames.map((name) => [toCamelCase(name), object[name]]));
}

/** Converts `max_output_tokens` to `maxOutputTokens`; names in camelCase stay unchanged. */
export function toCamelCase(name: string): string {
  if (!name.includes('_')) return name;
  return name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Reads the entries of a list. As in the API, a single value counts as a list with one entry; a missing value yields no entries. */
export function readList<T extends object>(holder: BodyObject<T>, name: keyof T & string): readonly JsonValue[] {
  const value = holder.get(name);
  if (isMissing(value)) return [];
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object') throw invalidValue(holder.pathOf(name), 'a list');
  return [value];
}

/** Iterates over a member's entries. Each is read when it is reached. */
export function iterateList<U extends object, T extends object>(
  holder: BodyObject<T>,
  name: keyof T & string,
): IteratorObject<BodyObject<U>> {
  return new EntryIterator(holder, name, readList(holder, name), toCamelFields);
}

/** Reads an enumeration value in upper case; undefined if it is missing or unspecified. */
export function readEnum<T extends object>(holder: BodyObject<T>, name: keyof T & string): string | undefined {
  const value = holder.maybeText(name)?.toUpperCase();
  return value === undefined || value === '' || value.endsWith('_UNSPECIFIED') ? undefined : value;
}

/** Returns an empty object for any other value. */
export function asCamelObject<T extends Readonly<JsonObject> = JsonObject>(value: JsonValue | undefined): T {
  return (isJsonObject(value) ? renameToCamelCase(value) : {}) as T;
}

export function asGenerationConfig(request: JsonObject): GeminiGenerationConfig {
  return asCamelObject(asCamelObject<GeminiRequest>(request).generationConfig);
}
