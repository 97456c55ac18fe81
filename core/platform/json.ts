/** Result of JSON.parse. Missing members read as undefined. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

/** Maximum nesting levels of a body. JSON.parse accepts any depth, but recursive code overflows at about 5,000 levels. */
export const maxJsonDepth = 200;

/** Parses a JSON text; undefined if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns true for an object that is not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a member of a value that may not be an object. `T` declares the possible members. */
export function readMember<T extends object = JsonObject>(
  value: JsonValue | undefined,
  name: keyof NoInfer<T> & string,
): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

/** Lists the objects in a list; empty for any other value. */
export function listObjects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/**
 * Returns false for empty values, including objects and lists that contain only empty ones. Go servers send all members of their types,
 * with `""`, 0 and false instead of missing values.
 */
export function isFilled(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(isFilled);
  return isJsonObject(value) ? Object.values(value).some(isFilled) : Boolean(value);
}

/** Returns true if arrays and objects nest deeper than `limit` levels. Recurses at most that deep. */
export function isDeeperThan(value: unknown, limit: number = maxJsonDepth): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, limit - 1));
  for (const name in value) if (isDeeperThan((value as JsonObject)[name], limit - 1)) return true;
  return false;
}

const startsObject = /^\s*\{/;

/**
 * Parses a JSON object; undefined if the text is something else, malformed, or nested deeper than `maxJsonDepth`.
 *
 * @param parse JSON.parse, or a parser that preserves more of the text
 */
export function parseObject(text: string, parse: (text: string) => unknown = JSON.parse): JsonObject | undefined {
  // JSON.parse throws for other text, which takes a hundred times as long as this check.
  if (!startsObject.test(text)) return undefined;
  try {
    const value = parse(text);
    return isJsonObject(value) && !isDeeperThan(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
