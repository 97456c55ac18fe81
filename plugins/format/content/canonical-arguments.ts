import type { JsonValue } from '#core/platform/json.ts';
import { parseInput } from '../wire/members.ts';

const number = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const surrogate = /[\uD800-\uDFFF]/;

/**
 * The arguments of a call in the form that is hashed: formats write equal arguments as text or as an object, with different white space,
 * escapes and digits. An object becomes JSON without white space, with members sorted by code points and numbers in one canonical form.
 * Missing arguments become `{}`; any other text stays unchanged.
 */
export function canonicalArguments(text: string): string {
  if (text === '{}' || text.trim() === '') return '{}';
  const value = parseInput(text);
  return value === undefined ? text : write(value);
}

function write(value: JsonValue | undefined): string {
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (typeof value === 'number') return canonicalNumber(String(value));
  if (typeof value !== 'object' || value === null) return String(value);
  if (JSON.isRawJSON(value)) return canonicalNumber(value.rawJSON);
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  const names = Object.keys(value);
  names.sort(names.some((name) => surrogate.test(name)) ? byCodePoints : undefined);
  return `{${names.map((name) => `${write(name)}:${write(value[name])}`).join(',')}}`;
}

/** A number as an integer without trailing zeros and, unless it is 0, a power of ten: 1.50 is `15e-1`, 1000 and 1e3 are `1e3`. */
function canonicalNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = number.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - kept.length);
  return power === 0n ? sign + kept : `${sign}${kept}e${power}`;
}

/** Order by UTF-16 would put characters above U+FFFF before those from U+E000. */
function byCodePoints(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
