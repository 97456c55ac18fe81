import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { parseExactInputsInSteps, parseExact, parseExactInputs } from '#core/gateway/model-call/exact-json.ts';
import {
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseObject,
  readMember,
} from '#core/platform/json.ts';

export { readMember } from '#core/platform/json.ts';

export function asCount(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}

export function asObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function asText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Converts a scalar to text. Returns `''` for objects and lists, because their member `toString` may not be a function. */
export function scalarToText(value: JsonValue | undefined): string {
  return typeof value === 'object' && value !== null ? '' : String(value);
}

/** Converts a scalar to a number; NaN for objects and lists. */
export function scalarToNumber(value: JsonValue | undefined): number {
  return typeof value === 'object' && value !== null ? Number.NaN : Number(value);
}

export function asFilledText(value: JsonValue | undefined): string | undefined {
  return asText(value) || undefined;
}

export function asFilledObject(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) && Object.keys(value).length > 0 ? value : undefined;
}

export function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the original list if the changed one has exactly the same entries, otherwise the changed one. */
export function keepIfSame(list: JsonValue | readonly JsonValue[] | undefined, changed: JsonValue[]): JsonValue[] {
  const isSame =
    Array.isArray(list) && list.length === changed.length && list.every((entry, index) => entry === changed[index]);
  return isSame ? list : changed;
}

export function sumDefined(...values: (number | undefined)[]): number | undefined {
  const defined = values.filter((value) => value !== undefined);
  return defined.length === 0 ? undefined : defined.reduce((total, value) => total + value, 0);
}

export function listTexts(value: JsonValue | undefined): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((entry) => typeof entry === 'string' && entry !== '') as string[];
}

/** Parses a tool call's input and keeps its numbers as written, see exact-json.ts. */
export function parseInput(text: string): JsonObject | undefined {
  return parseObject(text, parseExact);
}

/** Parses a body or event that contains inputs of tool calls, and keeps its numbers as written. */
export function parseBody(text: string): JsonObject | undefined {
  return parseObject(text, parseExactInputs);
}

/** @param event the parsed event; omit it if numbers must be kept as written */
export function parseEventData(data: string, event?: StreamEvent): JsonObject | undefined {
  return event === undefined ? parseBody(data) : event.parse();
}

export function* parseBodyInSteps(text: string): Generator<undefined, JsonObject | undefined> {
  try {
    const value = yield* parseExactInputsInSteps(text);
    return isJsonObject(value) && !isDeeperThan(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns true for event data that starts like an object but was cut off. Cheap, because it only looks at both ends. */
export function isTruncatedObject(data: string): boolean {
  return data.startsWith('{') && !data.endsWith('}') && !data.trimEnd().endsWith('}');
}

export function hasToolOfType(tools: JsonValue | undefined, types: readonly string[]): boolean {
  return Array.isArray(tools) && tools.some((tool) => types.includes(scalarToText(readMember(tool, 'type'))));
}

export function withoutUndefined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
