import type { JsonValue } from '#core/platform/json.ts';
import { parseInput } from '../wire/members.ts';

const numberPattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const surrogate = /[\uD800-\uDFFF]/; // names without surrogates sort the same by UTF-16 as by code points

/**
 * Writes a call's arguments in the form that is hashed. Formats write equal arguments as text or as an object, with different white space,
 * escapes and digits. An object becomes JSON without white space, with members sorted by code points and numbers in one canonical form.
 * Missing arguments become `{}`. Any other text stays unchanged.
 */
export function canonicalizeArguments(text: string): string {
  if (text === '{}' || text.trim() === '') return '{}';
  const value = parseInput(text);
  return value === undefined ? text : writeCanonical(value);
}

function writeCanonical(value: JsonValue | undefined): string {
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (typeof value === 'number') return writeCanonicalNumber(String(value));
  if (typeof value !== 'object' || value === null) return String(value);
  if (JSON.isRawJSON(value)) return writeCanonicalNumber(value.rawJSON);
  if (Array.isArray(value)) return `[${value.map(writeCanonical).join(',')}]`;
  const names = Object.keys(value);
  names.sort(names.some((name) => surrogate.test(name)) ? compareCodePoints : undefined);
  return `{${names.map((name) => `${writeCanonical(name)}:${writeCanonical(value[name])}`).join(',')}}`;
}

/** Writes a number as an integer without trailing zeros, then a power of ten unless that is 0: 1.50 is `15e-1`, 1000 and 1e3 are `1e3`. */
function writeCanonicalNumber(text: string): string {
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = numberPattern.exec(text) ?? [];
  const digits = (integer + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return power === 0n ? sign + significant : `${sign}${significant}e${power}`;
}

/** Compares by UTF-8 bytes: UTF-16 order would put characters above U+FFFF before characters from U+E000. */
function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
