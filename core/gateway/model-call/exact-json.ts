import { randomBytes } from 'node:crypto';
import type { JsonValue } from '#core/platform/json.ts';
import { endOfString, isDigitOrDot, quote, skipSpace, someNumber } from '#core/platform/json-scan.ts';
import { runToEnd } from '#core/platform/timing/turn.ts';

/**
 * JSON that preserves how numbers are written. 64-bit ids exceed double precision: parsing and serializing would change them. Such a number
 * is parsed to a `JSON.rawJSON` object, which can only be serialized; this is therefore used only for the input of tools.
 *
 * Numbers are first replaced with marked strings and restored afterwards, because a reviver with access to the source takes ten times as
 * long.
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

const minInexactLength = 16; // a double holds all numbers of up to 15 digits
const longNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Prefix of the string that replaces a number. Random, so that no input contains it. */
const mark = `#${randomBytes(9).toString('base64url')}:`;
/** Members that contain a tool call's input or a tool's result, in all formats. */
const inputNames = new Set(['input', 'args', 'arguments', 'response', 'numberValue']);
const inputName = new RegExp(`"(?:${[...inputNames].join('|')})"`);

const maxKeptLength = 1_024;
/** Length above which strings are skipped, because they may contain many digits. */
const largeText = 1_048_576;

/** Returns true if parsing the text may change a number in it, that is, if it has a digit followed by 15 more digits or dots. */
export function mayHoldLongNumbers(text: string): boolean {
  if (text.length <= largeText) return hasManyDigits(text);
  let length = 0; // of the digits and dots before the index
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index);
    length = isDigitOrDot(char) ? length + 1 : 0;
    if (length === minInexactLength) return true;
    if (char === quote) index = endOfString(text, index);
  }
  return false;
}

function hasManyDigits(text: string): boolean {
  // Each step lands within any run of this many characters.
  for (let index = minInexactLength - 1; index < text.length; index += minInexactLength) {
    if (!isDigitOrDot(text.charCodeAt(index))) continue;
    let begin = index;
    while (isDigitOrDot(text.charCodeAt(begin - 1))) begin--;
    let end = index + 1;
    while (isDigitOrDot(text.charCodeAt(end))) end++;
    while (text.charCodeAt(begin) === 0x2e) begin++;
    if (end - begin >= minInexactLength) return true;
    index = end - 1;
  }
  return false;
}

/** Like JSON.parse, for values that are only serialized again. */
export function parseExact(text: string): unknown {
  return mayHoldLongNumbers(text) ? runToEnd(parse(text, true)) : JSON.parse(text);
}

/** Like JSON.parse for the body of a request, a reply or an event; data of calls and tools is preserved exactly. */
export function parseExactInputs(text: string): unknown {
  return runToEnd(exactInputSteps(text));
}

/** Runs `parseExact` in steps, for long texts. */
export function* exactSteps(text: string): Generator<undefined, unknown> {
  return mayHoldLongNumbers(text) ? yield* parse(text, true) : JSON.parse(text);
}

/** Runs `parseExactInputs` in steps, for long texts. */
export function* exactInputSteps(text: string): Generator<undefined, unknown> {
  return mayHoldLongNumbers(text) && inputName.test(text) ? yield* parse(text, false) : JSON.parse(text);
}

function* parse(text: string, isKept: boolean): Generator<undefined, unknown> {
  const marked = markNumbers(text);
  yield;
  const value = JSON.parse(marked) as JsonValue;
  yield;
  return settle(value, isKept, isKept);
}

function markNumbers(text: string): string {
  let marked = '';
  let copied = 0;
  someNumber(text, minInexactLength, (begin, end) => {
    if (end - begin <= maxKeptLength && isToBeMarked(text, begin, end)) {
      marked += `${text.slice(copied, begin)}"${mark}${text.slice(begin, end)}"`;
      copied = end;
    }
    return false;
  });
  return marked + text.slice(copied);
}

/** Malformed input is not marked, so that the parser rejects it: a broken number, or a number as a name. */
function isToBeMarked(text: string, begin: number, end: number): boolean {
  return longNumber.test(text.slice(begin, end)) && text.charCodeAt(skipSpace(text, end)) !== 0x3a;
}

/** Restores marked numbers, exactly where required. Changes the value in place. */
function settle(value: unknown, isKept: boolean, isAllKept: boolean): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(mark)) return value;
    const source = value.slice(mark.length);
    const number = Number(source);
    return isKept && String(number) !== source ? JSON.rawJSON(source) : number;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = settle(value[index], isAllKept, isAllKept);
    return value;
  }
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    const areAllKept = isAllKept || inputNames.has(name);
    const settled = settle(members[name], areAllKept, areAllKept);
    // `defineProperty`, because a member may be named __proto__.
    if (settled !== members[name])
      Object.defineProperty(members, name, { value: settled, writable: true, enumerable: true, configurable: true });
  }
  return members;
}
