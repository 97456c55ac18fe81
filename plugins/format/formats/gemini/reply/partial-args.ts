import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { GeminiPartialArg } from '../../../wire/gemini.ts';
import { readMember } from '../../../wire/members.ts';

const maxIndex = 10_000; // real arguments have shorter lists

/**
 * Collects a call's arguments that arrive in pieces. Each piece is a value at a path. The pieces of a string are concatenated. Source:
 * Vertex AI reference, "PartialArg".
 */
export class PartialArgs {
  readonly #args: JsonObject = {};

  add(pieces: JsonValue | undefined): void {
    for (const piece of Array.isArray(pieces) ? pieces : []) {
      const value = isJsonObject(piece) ? readValue(piece) : undefined;
      if (!isJsonObject(piece) || value === undefined) continue;
      const path = readPath(readMember<GeminiPartialArg>(piece, 'jsonPath'));
      if (path.length > 0) this.#set(path, value);
    }
  }

  get text(): string {
    return JSON.stringify(this.#args);
  }

  #set(path: readonly (string | number)[], value: JsonValue): void {
    let holder: JsonObject = this.#args;
    for (const [index, step] of path.slice(0, -1).entries()) {
      if (isNameInList(holder, step)) return;
      const earlierValue = getOwn(holder, step);
      const empty = typeof path[index + 1] === 'number' ? [] : {};
      const inner = typeof earlierValue === 'object' && earlierValue !== null ? earlierValue : empty;
      setMember(holder, step, inner);
      holder = inner;
    }
    const lastStep = path.at(-1) as string | number;
    if (isNameInList(holder, lastStep)) return;
    const earlierValue = getOwn(holder, lastStep);
    setMember(
      holder,
      lastStep,
      typeof earlierValue === 'string' && typeof value === 'string' ? earlierValue + value : value,
    );
  }
}

function isNameInList(holder: JsonObject | JsonValue[], step: string | number): boolean {
  return Array.isArray(holder) && typeof step !== 'number';
}

function getOwn(holder: JsonObject, step: string | number): JsonValue | undefined {
  return Object.hasOwn(holder, step) ? holder[step] : undefined;
}

function setMember(holder: JsonObject, step: string | number, value: JsonValue): void {
  // An assignment would not create a member named `__proto__`.
  Object.defineProperty(holder, step, { value, enumerable: true, configurable: true, writable: true });
}

function readValue({ nullValue, stringValue, numberValue, boolValue }: GeminiPartialArg): JsonValue | undefined {
  if (nullValue !== undefined) return null;
  return [stringValue, numberValue, boolValue].find((value) => value !== undefined);
}

function readPath(value: JsonValue | undefined): (string | number)[] {
  if (typeof value !== 'string' || !value.startsWith('$')) return [];
  // Steps of a path such as `$.a.b[0].c`.
  const steps = [...value.slice(1).matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/g)];
  const path = steps.map(([, name, index, singleQuoted, doubleQuoted]) =>
    index === undefined ? (name ?? singleQuoted ?? doubleQuoted ?? '') : Number(index),
  );
  return path.every((step) => typeof step === 'string' || step <= maxIndex) ? path : [];
}
