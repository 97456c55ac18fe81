import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { invalid, isMissing, Placed } from './read.ts';

/**
 * Reads an object whose members may be named in camelCase or snake_case: the API accepts both. Only its own members are
 * renamed, because inner objects may be data. Source: protobuf, "JSON Mapping".
 *
 * @throws GatewayError `invalid_request`
 */
export function readFields<T extends object = JsonObject>(value: JsonValue | undefined, path: string): Placed<T> {
  return new Placed(camelFields(Placed.of(value, path).value) as T, path);
}

/** Reads a member in the same way; undefined if it is missing. */
export function maybeFields<U extends object, T extends object>(
  holder: Placed<T>,
  name: keyof T & string,
): Placed<U> | undefined {
  return holder.isMissing(name) ? undefined : readFields(holder.get(name), holder.at(name));
}

export function camelFields(object: JsonObject): JsonObject {
  const fields: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    const camel = camelName(name);
    // If both spellings are present, the documented one wins.
    if (camel !== name && Object.hasOwn(object, camel)) continue;
    Object.defineProperty(fields, camel, { value, enumerable: true, configurable: true, writable: true });
  }
  return fields;
}

/** Returns `maxOutputTokens` for `max_output_tokens` and for `maxOutputTokens`. */
export function camelName(name: string): string {
  return name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The entries of a list; a single value counts as its only entry, as in the API. Empty if the value is missing. */
export function readMany(value: JsonValue | undefined, path: string): readonly JsonValue[] {
  if (isMissing(value)) return [];
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object') throw invalid(path, 'a list');
  return [value];
}

/** The entries of a member, each with its path. */
export function* manyIn<T extends object>(
  holder: Placed<T>,
  name: keyof T & string,
): Generator<readonly [entry: JsonValue, path: string], void> {
  for (const [index, entry] of readMany(holder.get(name), holder.at(name)).entries())
    yield [entry, `${holder.at(name)}[${index}]`];
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
