import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { parseExact, parseExactInputs } from './exact-json.ts';

/** A count of tokens, where there is one. */
export function count(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}

/** A member of an object that may not be there. */
export function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

/** The sum of what is known; undefined when nothing is. */
export function sum(...values: (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
}

/**
 * The object that a text holds; undefined when it is something else, not JSON, or nested so deep that whatever walks it
 * would run out of stack.
 */
export function parseObject(text: string): JsonObject | undefined {
  return objectOf(text, JSON.parse);
}

/** The same for the input of a call, its numbers as they were written, see exact-json.ts. */
export function parseInput(text: string): JsonObject | undefined {
  return objectOf(text, parseExact);
}

/** The same for a body or an event that inputs of calls stand in. */
export function parseBody(text: string): JsonObject | undefined {
  return objectOf(text, parseExactInputs);
}

function objectOf(text: string, parse: (text: string) => unknown): JsonObject | undefined {
  try {
    const value = parse(text);
    return isJsonObject(value) && !isDeeperThan(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True for the data of an event that was meant to be an object and is not whole. As cheap as a look at both ends. */
export function isTornObject(data: string): boolean {
  return data.startsWith('{') && !data.trimEnd().endsWith('}');
}
