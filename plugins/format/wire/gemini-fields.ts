import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { invalid, isMissing, maybeText, readObject } from './read.ts';

/**
 * Reads an object whose members may be named in camelCase or snake_case: the API takes both. Only its own members are
 * renamed, because inner objects may be data. Source: protobuf, "JSON Mapping".
 *
 * @throws GatewayError `invalid_request`
 */
export function readFields(value: JsonValue | undefined, path: string): JsonObject {
  return camelFields(readObject(value, path));
}

/** Undefined when it is missing. */
export function maybeFields(value: JsonValue | undefined, path: string): JsonObject | undefined {
  return isMissing(value) ? undefined : readFields(value, path);
}

export function camelFields(object: JsonObject): JsonObject {
  const fields: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    const camel = camelName(name);
    // Of two spellings, the documented one counts.
    if (camel !== name && Object.hasOwn(object, camel)) continue;
    Object.defineProperty(fields, camel, { value, enumerable: true, configurable: true, writable: true });
  }
  return fields;
}

/** `maxOutputTokens` for `max_output_tokens`, and for itself. */
export function camelName(name: string): string {
  return name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A list, or its only entry: the API accepts both. Empty when it is missing. */
export function readMany(value: JsonValue | undefined, path: string): readonly JsonValue[] {
  if (isMissing(value)) return [];
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object') throw invalid(path, 'a list');
  return [value];
}

/** An enumeration value in upper case; undefined when it is missing or unspecified. */
export function readWord(value: JsonValue | undefined, path: string): string | undefined {
  const word = maybeText(value, path)?.toUpperCase();
  return word === undefined || word === '' || word.endsWith('_UNSPECIFIED') ? undefined : word;
}

/** The members of an object; none for any other value. @template T says which members the object may have */
export function fieldsOf<T extends Readonly<JsonObject> = JsonObject>(value: JsonValue | undefined): T {
  return (isJsonObject(value) ? camelFields(value) : {}) as T;
}
