import { findStringEnd } from '#core/platform/json-scan.ts';
import { type JsonObject, type JsonValue, parseJson, parseObject } from '#core/platform/json.ts';
import { type DeltaFragment, type Fragment, selectOnlyDelta, progress, withText } from './reply.ts';

const maxAttempts = 8; // failed attempts before learning stops; some vendors put a different number into each event
const escapedCharacter = /["\\\p{Cc}]/u;

/** Matches an event's number in a numbered stream. Quotes inside strings are escaped, so they do not match. */
const numberPattern = /(?<="sequence_number"\s*:\s*)\d+/;

/** A piece of an event, split in two around the event's number if it has one. */
type NumberedPiece = readonly [string, string?];

function splitAtNumber(piece: string): NumberedPiece {
  const match = numberPattern.exec(piece);
  return match === null ? [piece] : [piece.slice(0, match.index), piece.slice(match.index + match[0].length)];
}

function insertNumber([head, rest]: NumberedPiece, number: number | undefined): string {
  return rest === undefined ? head : `${head}${number}${rest}`;
}

type ReadText = (event: JsonObject) => JsonValue | undefined;

/**
 * Finds the end of the text in an event that starts with `prefix`, whose last character is the text's opening quote. Callers then compare
 * the event's tail: JSON that begins and ends like a known event has its members in the same places.
 *
 * @returns undefined for other events
 */
export function findTextEnd(data: string, prefix: string): number | undefined {
  // Comparing slices is the fastest way.
  return data.slice(0, prefix.length) === prefix ? findStringEnd(data, prefix.length - 1) : undefined;
}

const padding = '"obfuscation":"'; // OpenAI pads its events to hide their length

/** The tail of an event, split in two around the padding, whose content does not matter. */
export type EventTail = readonly [string, string?];

/** @param searchStart where to start searching for padding */
export function readTail(data: string, start: number, searchStart = start): EventTail {
  const memberStart = data.indexOf(padding, searchStart);
  if (memberStart === -1) return [data.slice(start)];
  const paddingStart = memberStart + padding.length;
  return [data.slice(start, paddingStart), data.slice(findStringEnd(data, paddingStart - 1))];
}

/** Returns true if an event has this tail at `start`. The content of its padding does not matter. */
export function hasTail(data: string, start: number, tail: string, afterPadding?: string): boolean {
  if (afterPadding === undefined) return data.slice(start) === tail;
  const paddingStart = start + tail.length;
  return data.slice(start, paddingStart) === tail && data.slice(findStringEnd(data, paddingStart - 1)) === afterPadding;
}

/**
 * Reads an event without parsing it if it differs from the last parsed event only in one text and in its number. This is the case for
 * nearly all tokens of an answer.
 */
export class RepeatedEvent {
  #name: string | undefined;
  #prefix: NumberedPiece | undefined; // the event up to and including the text's opening quote
  #tail: NumberedPiece = [''];
  #afterPadding: NumberedPiece | undefined;
  #attempts = 0;

  /**
   * Reads the text of an event; undefined if the event must be parsed.
   *
   * @param number the number that the event must have in a numbered stream
   */
  read(name: string | undefined, data: string, number?: number): string | undefined {
    if (this.#prefix === undefined || name !== this.#name) return undefined;
    const prefix = insertNumber(this.#prefix, number);
    if (data.slice(0, prefix.length) !== prefix) return undefined;
    const tail = insertNumber(this.#tail, number);
    const afterPadding = this.#afterPadding && insertNumber(this.#afterPadding, number);
    // Without padding, no search is needed, because the text itself is checked below.
    const end = afterPadding === undefined ? data.length - tail.length : findStringEnd(data, prefix.length - 1);
    if (end < prefix.length || !hasTail(data, end, tail, afterPadding)) return undefined;
    const literal = data.slice(prefix.length, end);
    const text = escapedCharacter.test(literal) ? parseJson(`"${literal}"`) : literal;
    if (typeof text !== 'string') return undefined;
    this.#attempts = 0;
    return text;
  }

  /** @param text the only content of the event; undefined if the event has other content */
  learn(name: string | undefined, data: string, text: string | undefined, readText: ReadText): void {
    this.#prefix = undefined;
    if (text === undefined || text === '' || this.#attempts >= maxAttempts) return;
    this.#attempts++;
    const literal = [JSON.stringify(text), toAscii(JSON.stringify(text))].find((form) => data.includes(form));
    if (literal === undefined) return;
    const start = data.indexOf(literal);
    const end = start + literal.length - 1;
    // The text may also occur elsewhere in the event. Appending a character at this position must change the text that is read.
    if (readText(parseObject(`${data.slice(0, end)}.${data.slice(end)}`) ?? {}) !== `${text}.`) return;
    this.#name = name;
    const [tail, afterPadding] = readTail(data, end);
    this.#prefix = splitAtNumber(data.slice(0, start + 1));
    this.#tail = splitAtNumber(tail);
    this.#afterPadding = afterPadding === undefined ? undefined : splitAtNumber(afterPadding);
  }
}

/** Escapes all non-ASCII characters, as Python's JSON writers do. */
function toAscii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Reads the fragments of repeated events that carry only text. */
export class RepeatedDelta {
  readonly #event = new RepeatedEvent();
  #lastDelta: DeltaFragment | undefined;

  read(name: string | undefined, data: string, number?: number): [DeltaFragment | typeof progress] | undefined {
    const lastDelta = this.#lastDelta;
    const text = lastDelta && this.#event.read(name, data, number);
    if (lastDelta === undefined || text === undefined) return undefined;
    return [text === '' ? progress : withText(lastDelta, text)];
  }

  learn(name: string | undefined, data: string, fragments: Fragment[], readText: ReadText): Fragment[] {
    this.#lastDelta = selectOnlyDelta(fragments);
    this.#event.learn(name, data, this.#lastDelta?.text, readText);
    return fragments;
  }
}
