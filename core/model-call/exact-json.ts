import type { JsonValue } from '../json.ts';

/**
 * JSON whose numbers stay as they were written. Ids of 64 bits are more than a double can say: parsed and written again
 * they would be other ids. Such a number is parsed into what `JSON.rawJSON` makes of it, which is good for nothing but
 * being written again: so it is asked for only where that is all that happens, in the input of tools.
 */
declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

interface RawJson {
  readonly rawJSON: string;
}

/** What every number has that a double may not be able to say: up to 15 digits it can say all. */
const manyDigits = /\d[\d.]{15}/;
/** Members of the formats' bodies that hold the input of a call, or an object that a tool has answered with. */
const inputNames = new Set(['input', 'args', 'arguments', 'response', 'numberValue']);

/** True when parsing the text may change a number in it. */
export function mayHoldLongNumbers(text: string): boolean {
  return manyDigits.test(text);
}

/** As JSON.parse, for what is only written again. */
export function parseExact(text: string): unknown {
  return mayHoldLongNumbers(text) ? JSON.parse(text, keepLong) : JSON.parse(text);
}

/** As JSON.parse for the body of a request, a reply or an event: what calls and tools say in it is kept exactly. */
export function parseExactInputs(text: string): unknown {
  return mayHoldLongNumbers(text) ? settle(JSON.parse(text, keepLong) as JsonValue | RawJson, false) : JSON.parse(text);
}

function keepLong(_name: string, value: unknown, { source }: { readonly source?: string }): unknown {
  const isLong = typeof value === 'number' && source !== undefined && manyDigits.test(source);
  return isLong && String(value) !== source ? JSON.rawJSON(source) : value;
}

/** Makes numbers of numbers again, wherever they are read. The value is ours alone, and changed in its place. */
function settle(value: unknown, isKept: boolean): unknown {
  if (isKept || typeof value !== 'object' || value === null) return value;
  if (JSON.isRawJSON(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) value[index] = settle(entry, false);
    return value;
  }
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    const settled = settle(members[name], inputNames.has(name));
    // A member may be called __proto__, and is not to be taken for one.
    if (settled !== members[name])
      Object.defineProperty(members, name, { value: settled, writable: true, enumerable: true, configurable: true });
  }
  return members;
}
