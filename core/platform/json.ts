/** Result of JSON.parse. Missing members read as undefined. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

/** Nesting levels that a body may have. JSON.parse accepts any number; recursion overflows at about 5,000. */
export const maxJsonDepth = 200;

/** The value of a JSON text; undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for an object that is not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * False for a value that stands for a missing one: servers in Go write every member of their types, with `""`, 0 and false in
 * all of them.
 */
export function isFilled(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(isFilled);
  return isJsonObject(value) ? Object.values(value).some(isFilled) : Boolean(value);
}

/** True when arrays and objects nest deeper than `limit` levels. Recurses no deeper than that. */
export function isDeeperThan(value: unknown, limit: number = maxJsonDepth): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, limit - 1));
  for (const name in value) if (isDeeperThan((value as JsonObject)[name], limit - 1)) return true;
  return false;
}

const startsObject = /^\s*\{/;

/**
 * The object in a JSON text; undefined when it is something else, malformed, or nested deeper than `maxJsonDepth`.
 *
 * @param parse JSON.parse, or a parser that keeps more of the text
 */
export function parseObject(text: string, parse: (text: string) => unknown = JSON.parse): JsonObject | undefined {
  // Anything else would make JSON.parse throw, which takes a hundred times as long as this check.
  if (!startsObject.test(text)) return undefined;
  try {
    const value = parse(text);
    return isJsonObject(value) && !isDeeperThan(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
