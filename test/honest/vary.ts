import type { JsonObject, JsonValue } from '#core/platform/json.ts';

/** Draws numbers from 0 up to a limit. */
export type Draw = (below: number) => number;

/** The same numbers for the same seed (mulberry32). */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Members that hold words of the model. */
const words: ReadonlySet<string> = new Set([
  'text',
  'content',
  'thinking',
  'reasoning',
  'reasoning_content',
  'refusal',
]);
/** Members that hold arguments, as text or as an object. */
const inputs: ReadonlySet<string> = new Set(['partial_json', 'arguments', 'input', 'args']);

const letters = [...'aeou'];
const otherWords = ['é', '語', '😀', '"', '\\', '\n', ' ', 'xyz', '\u2028', '\u007f', '<b>', 'A', '', '{}', '𝄞'];
const otherInputs = ['é', '語', '😀', 'xyz', 'A', ' ', '𝄞', 'u', '0'];

/**
 * Gives an answer other words: each of some letters becomes something else, wherever it stands. So pieces of a text, and the whole of it
 * that comes again, still say the same.
 */
export function vary(body: Buffer, draw: Draw): Buffer {
  const others = (pool: readonly string[]) => new Map(letters.map((letter) => [letter, pool[draw(pool.length)] ?? '']));
  const [word, input] = [others(otherWords), others(otherInputs)];
  const text = body.toString();
  if (text.startsWith('{'))
    return Buffer.from(
      text
        .split('\n')
        .map((line) => varied(line, word, input))
        .join('\n'),
    );
  return Buffer.from(
    text.replace(/^(data: ?)(\{.*\})$/gm, (_all, field: string, json: string) => field + varied(json, word, input)),
  );
}

type Letters = ReadonlyMap<string, string>;

function varied(json: string, word: Letters, input: Letters): string {
  try {
    return JSON.stringify(change(JSON.parse(json) as JsonValue, undefined, word, input));
  } catch {
    return json;
  }
}

function change(
  value: JsonValue,
  name: string | undefined,
  word: Letters,
  input: Letters,
  type?: JsonValue,
): JsonValue {
  if (Array.isArray(value)) return value.map((entry) => change(entry, name, word, input, type));
  if (typeof value === 'object' && value !== null) {
    const isInput = name !== undefined && inputs.has(name);
    const entries = Object.entries(value).map(([member, inner = null]) => [
      member,
      change(inner, isInput ? name : member, word, input, value['type']),
    ]);
    return Object.fromEntries(entries) as JsonObject;
  }
  if (typeof value !== 'string' || name === undefined) return value;
  const isDelta = name === 'delta' && typeof type === 'string';
  if (inputs.has(name) || (isDelta && /arguments|input/.test(String(type)))) return replaced(value, input);
  return words.has(name) || isDelta ? replaced(value, word) : value;
}

function replaced(text: string, others: Letters): string {
  return text.replace(/[aeou]/g, (letter) => others.get(letter) ?? letter);
}

/** Cuts bytes anywhere. */
export function chop(body: Buffer, draw: Draw): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const end = Math.min(body.length, at + 1 + draw(draw(4) === 0 ? 12 : 400));
    pieces.push(body.subarray(at, end));
    at = end;
  }
  return pieces;
}
