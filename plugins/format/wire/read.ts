import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';

/**
 * These functions read members of a client's body and refuse a wrong type by its path. `null` counts as missing.
 */
type Value = JsonValue | undefined;

/** @throws GatewayError `invalid_request` */
export function invalid(path: string, expected: string): GatewayError {
  return new GatewayError('invalid_request', `\`${path}\` must be ${expected}.`, { param: path });
}

export function isMissing(value: Value): value is null | undefined {
  return value === undefined || value === null;
}

export function readText(value: Value, path: string): string {
  if (typeof value !== 'string') throw invalid(path, 'a string');
  return value;
}

export function readFilled(value: Value, path: string, expected = 'a non-empty string'): string {
  const text = readText(value, path);
  if (text === '') throw invalid(path, expected);
  return text;
}

export function readObject(value: Value, path: string): JsonObject {
  if (!isJsonObject(value)) throw invalid(path, 'an object');
  return value;
}

export function readList(value: Value, path: string): readonly JsonValue[] {
  if (!Array.isArray(value)) throw invalid(path, 'a list');
  return value;
}

export function maybeText(value: Value, path: string): string | undefined {
  return isMissing(value) ? undefined : readText(value, path);
}

export function maybeObject(value: Value, path: string): JsonObject | undefined {
  return isMissing(value) ? undefined : readObject(value, path);
}

/** Empty when it is missing. */
export function maybeList(value: Value, path: string): readonly JsonValue[] {
  return isMissing(value) ? [] : readList(value, path);
}

export function maybeBoolean(value: Value, path: string): boolean | undefined {
  if (isMissing(value)) return undefined;
  if (typeof value !== 'boolean') throw invalid(path, 'true or false');
  return value;
}

export function maybeInteger(value: Value, path: string, minimum = 0, maximum = 1_000_000_000): number | undefined {
  if (isMissing(value)) return undefined;
  if (typeof value !== 'number' || value < minimum || value > maximum) {
    throw invalid(path, `a number from ${minimum} to ${maximum}`);
  }
  if (!Number.isInteger(value)) throw invalid(path, `an integer from ${minimum}`);
  return value;
}

/** A string or a list of them; empty when it is missing. */
export function readTexts(value: Value, path: string): readonly string[] {
  if (isMissing(value)) return [];
  if (typeof value === 'string') return [value];
  return readList(value, path).map((entry, index) => readText(entry, `${path}[${index}]`));
}
