import { randomBytes } from 'node:crypto';
import { findStringEnd, isDigitOrDot, quote, skipSpace, visitNumbers } from '#core/platform/json-scan.ts';
import type { JsonValue } from '#core/platform/json.ts';
import { runToEnd } from '#core/platform/timing/turn.ts';

/*
 * JSON that preserves the digits of numbers. Parsing and serializing would change 64-bit ids, which exceed double precision. Such a number
 * is parsed to a `JSON.rawJSON` object, which can only be serialized, so only the input of tools is parsed this way.
 *
 * The long numbers are replaced with marked strings before parsing and restored afterwards. A reviver with access to the source would take
 * ten times as long.
 */

declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

interface RawJson {
  readonly rawJSON: string;
}

const minLongRunLength = 16; // a double holds all numbers of up to 15 digits
const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const markPrefix = `#${randomBytes(9).toString('base64url')}:`; // random, so that no input contains it
const toolDataNames = new Set(['input', 'args', 'arguments', 'response', 'numberValue']);
const toolDataNamePattern = new RegExp(`"(?:${[...toolDataNames].join('|')})"`);

const maxNumberLength = 1_024; // longer numbers are not preserved
const longTextLength = 1_048_576; // longer texts are searched only outside strings, which may contain many digits

/** True if parsing the text may change a number, that is, if it contains 16 consecutive digits and dots. */
export function mayContainLongNumbers(text: string): boolean {
  return text.length <= longTextLength ? hasLongDigitRun(text) : hasLongDigitRunOutsideStrings(text);
}

function hasLongDigitRunOutsideStrings(text: string): boolean {
  let runLength = 0; // of digits and dots
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index);
    runLength = isDigitOrDot(char) ? runLength + 1 : 0;
    if (runLength === minLongRunLength) return true;
    if (char === quote) index = findStringEnd(text, index);
  }
  return false;
}

function hasLongDigitRun(text: string): boolean {
  // A step of this size cannot skip a run of the minimum length.
  for (let index = minLongRunLength - 1; index < text.length; index += minLongRunLength) {
    if (!isDigitOrDot(text.charCodeAt(index))) continue;
    let start = index;
    while (isDigitOrDot(text.charCodeAt(start - 1))) start--;
    let end = index + 1;
    while (isDigitOrDot(text.charCodeAt(end))) end++;
    while (text[start] === '.') start++;
    if (end - start >= minLongRunLength) return true;
    index = end - 1;
  }
  return false;
}

/** Parses JSON that will only be serialized again. Preserves all numbers exactly. */
export function parseExact(text: string): unknown {
  return mayContainLongNumbers(text) ? runToEnd(parseMarked(text, true)) : JSON.parse(text);
}

/** Parses the body of a request, a reply or an event. Preserves the numbers in data of tool calls and results exactly. */
export function parseExactInputs(text: string): unknown {
  return runToEnd(parseExactInputsInSteps(text));
}

/** Like `parseExact`, in steps for long texts. */
export function* parseExactInSteps(text: string): Generator<undefined, unknown> {
  return mayContainLongNumbers(text) ? yield* parseMarked(text, true) : JSON.parse(text);
}

/** Like `parseExactInputs`, in steps for long texts. */
export function* parseExactInputsInSteps(text: string): Generator<undefined, unknown> {
  return mayContainLongNumbers(text) && toolDataNamePattern.test(text)
    ? yield* parseMarked(text, false)
    : JSON.parse(text);
}

function* parseMarked(text: string, isExact: boolean): Generator<undefined, unknown> {
  const markedText = markNumbers(text);
  yield;
  const value = JSON.parse(markedText) as JsonValue;
  yield;
  return restoreNumbers(value, isExact);
}

function markNumbers(text: string): string {
  let markedText = '';
  let copiedLength = 0;
  visitNumbers(text, minLongRunLength, (start, end) => {
    if (end - start <= maxNumberLength && isNumberValue(text, start, end)) {
      markedText += `${text.slice(copiedLength, start)}"${markPrefix}${text.slice(start, end)}"`;
      copiedLength = end;
    }
  });
  return markedText + text.slice(copiedLength);
}

function isNumberValue(text: string, start: number, end: number): boolean {
  // Anything else, such as a number as a name, is malformed, and the parser must reject it.
  return numberPattern.test(text.slice(start, end)) && text[skipSpace(text, end)] !== ':';
}

/** Restores marked numbers in place: as raw JSON if `isExact` or inside a member in `toolDataNames`, otherwise as numbers. */
function restoreNumbers(value: unknown, isExact: boolean): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(markPrefix)) return value;
    const source = value.slice(markPrefix.length);
    const number = Number(source);
    return isExact && String(number) !== source ? JSON.rawJSON(source) : number;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = restoreNumbers(value[index], isExact);
    return value;
  }
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    const member = restoreNumbers(members[name], isExact || toolDataNames.has(name));
    // `defineProperty`, because a member may be named __proto__.
    if (member !== members[name])
      Object.defineProperty(members, name, { value: member, writable: true, enumerable: true, configurable: true });
  }
  return members;
}
