import { findStringEnd } from '#core/platform/json-scan.ts';
import { type JsonObject, type JsonValue, parseJson, parseObject } from '#core/platform/json.ts';

/** Failed attempts before giving up, because some vendors put a different number into each event. */
const maxAttempts = 8;
/** Characters that a JSON string must escape. */
const escapedCharacter = /["\\\p{Cc}]/u;

type ReadText = (event: JsonObject) => JsonValue | undefined;

/**
 * Finds the end of the text in an event that starts with `prefix`, whose last character is the opening quote of the text. Callers then
 * compare the event's tail: JSON that begins and ends like a known event has its members in the same places.
 *
 * @returns undefined for other events
 */
export function findTextEnd(data: string, prefix: string): number | undefined {
  // Comparing slices is the fastest way.
  return data.slice(0, prefix.length) === prefix ? findStringEnd(data, prefix.length - 1) : undefined;
}

/** OpenAI pads its events to hide their length. */
const padding = '"obfuscation":"';

/** Tail of an event, split in two around padding, whose text is ignored. */
export type EventTail = readonly [string, string?];

/** @param searchStart start of the search for padding */
export function readTail(data: string, start: number, searchStart = start): EventTail {
  const memberStart = data.indexOf(padding, searchStart);
  if (memberStart === -1) return [data.slice(start)];
  const paddingStart = memberStart + padding.length;
  return [data.slice(start, paddingStart), data.slice(findStringEnd(data, paddingStart - 1))];
}

export function hasTail(data: string, start: number, [tail, afterPadding]: EventTail): boolean {
  if (afterPadding === undefined) return data.slice(start) === tail;
  const paddingStart = start + tail.length;
  return data.slice(start, paddingStart) === tail && data.slice(findStringEnd(data, paddingStart - 1)) === afterPadding;
}

/**
 * Reads events without parsing them if only one text differs from the last parsed event, which is true for nearly all tokens of an
 * answer.
 */
export class RepeatedEvent {
  #name: string | undefined;
  /** The event up to and including the opening quote of the text; undefined until an event was learned. */
  #prefix: string | undefined;
  /** The event from the closing quote of the text. */
  #tail: EventTail = [''];
  #attempts = 0;

  /** Reads the text of an event; undefined if the event must be parsed. */
  read(name: string | undefined, data: string): string | undefined {
    const prefix = this.#prefix;
    if (prefix === undefined || name !== this.#name || data.slice(0, prefix.length) !== prefix) return undefined;
    const [tail, afterPadding] = this.#tail;
    // Without padding, no search is needed, because the text itself is checked below.
    const end = afterPadding === undefined ? data.length - tail.length : findStringEnd(data, prefix.length - 1);
    if (end < prefix.length || !hasTail(data, end, this.#tail)) return undefined;
    const literal = data.slice(prefix.length, end);
    const text = escapedCharacter.test(literal) ? parseJson(`"${literal}"`) : literal;
    if (typeof text !== 'string') return undefined;
    this.#attempts = 0;
    return text;
  }

  /**
   * Learns the last parsed event.
   *
   * @param text the only content of the event; undefined if the event has other content
   * @param readText finds the text in a parsed event
   */
  learn(name: string | undefined, data: string, text: string | undefined, readText: ReadText): void {
    this.#prefix = undefined;
    if (text === undefined || text === '' || this.#attempts >= maxAttempts) return;
    this.#attempts++;
    const literal = JSON.stringify(text);
    const start = data.indexOf(literal);
    if (start === -1) return;
    const end = start + literal.length - 1;
    // The text may also occur elsewhere in the event: appending a character here must change the event's text.
    if (readText(parseObject(`${data.slice(0, end)}.${data.slice(end)}`) ?? {}) !== `${text}.`) return;
    this.#name = name;
    this.#prefix = data.slice(0, start + 1);
    this.#tail = readTail(data, end);
  }
}
