import { foreignVariable } from '../file/interpolate.ts';

/** RFC 9110, 5.6.2: the characters of a header name. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110, 5.5: one line of visible characters of Latin-1, spaces and tabs. */
const line = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers of one connection, which the HTTP client sets: others would break the framing of the request. */
const framing = new Set(['connection', 'content-length', 'expect', 'keep-alive', 'te', 'transfer-encoding', 'upgrade']);

/** The mistake in a header and its correction, without its value; undefined for a valid one. */
export function headerMistake(name: string, value: string): readonly [wrong: string, right: string] | undefined {
  if (!token.test(name)) return ['is not a valid header name', 'use letters, digits and hyphens'];
  if (framing.has(name.toLowerCase())) return ['is set by the gateway', 'remove it'];
  if (line.test(value)) return undefined;
  return ['has a line break or a character that headers cannot carry', 'use printable ASCII on one line'];
}

/** The same for an API key. Keys have no spaces; one with spaces was pasted or read with surrounding text. */
export function keyMistake(key: string): readonly [wrong: string, right: string] | undefined {
  const variable = foreignVariable(key);
  if (variable !== undefined) return ['is a variable in the notation of another program', `write "\${${variable}}"`];
  if (/^[\x21-\x7e]*$/.test(key)) return undefined;
  const wrong = /\s/.test(key) ? 'has a space or a line break' : 'has a character that headers cannot carry';
  return [wrong, 'use the key alone, as the vendor shows it'];
}
