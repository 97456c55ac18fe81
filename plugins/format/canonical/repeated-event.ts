import { type JsonObject, type JsonValue, parseJson, parseObject } from '#core/platform/json.ts';
import { endOfString } from '#core/platform/json-scan.ts';

/** Failed attempts to learn a template before giving up: some vendors put a different number into each event. */
const maxAttempts = 8;
/** Characters that a JSON string must escape. */
const special = /["\\\p{Cc}]/u;

type TextOf = (event: JsonObject) => JsonValue | undefined;

/**
 * End of the text in an event that starts with `before`, which ends with the opening quote of the text; undefined for other events.
 * Callers then compare the rest: JSON that begins and ends like a known event has its members in the same places.
 */
export function endOfRepeated(data: string, before: string): number | undefined {
  // Comparing slices is the fastest way.
  return data.slice(0, before.length) === before ? endOfString(data, before.length - 1) : undefined;
}

/** OpenAI pads its events to hide their length. */
const padding = '"obfuscation":"';

/** End of an event; split in two around padding, whose text is ignored. */
export type Rest = readonly [string, string?];

/** @param outside position from which padding may occur */
export function restOf(data: string, from: number, outside = from): Rest {
  const at = data.indexOf(padding, outside);
  if (at === -1) return [data.slice(from)];
  const padded = at + padding.length;
  return [data.slice(from, padded), data.slice(endOfString(data, padded - 1))];
}

export function hasRest(data: string, from: number, [rest, behind]: Rest): boolean {
  if (behind === undefined) return data.slice(from) === rest;
  const padded = from + rest.length;
  return data.slice(from, padded) === rest && data.slice(endOfString(data, padded - 1)) === behind;
}

/**
 * Reads events without parsing them if they differ from the last parsed event in a single text only, as nearly all tokens of an
 * answer do.
 */
export class RepeatedEvent {
  #name: string | undefined;
  /** The event up to the opening quote of the text; undefined until one was learned. `#after` begins with the closing quote. */
  #before: string | undefined;
  #after: Rest = [''];
  #attempts = 0;

  read(name: string | undefined, data: string): string | undefined {
    const before = this.#before;
    if (before === undefined || name !== this.#name || data.slice(0, before.length) !== before) return undefined;
    const [after, behind] = this.#after;
    // Usually needs no search: the text itself is checked below.
    const end = behind === undefined ? data.length - after.length : endOfString(data, before.length - 1);
    if (end < before.length || !hasRest(data, end, this.#after)) return undefined;
    const literal = data.slice(before.length, end);
    const text = special.test(literal) ? parseJson(`"${literal}"`) : literal;
    if (typeof text !== 'string') return undefined;
    this.#attempts = 0;
    return text;
  }

  /**
   * Learns the last parsed event.
   *
   * @param text the only content of the event; undefined if the event has other content
   */
  learn(name: string | undefined, data: string, text: string | undefined, textOf: TextOf): void {
    this.#before = undefined;
    if (text === undefined || text === '' || this.#attempts >= maxAttempts) return;
    this.#attempts++;
    const literal = JSON.stringify(text);
    const begin = data.indexOf(literal);
    if (begin === -1) return;
    const end = begin + literal.length - 1;
    // The text may occur elsewhere in the event, too: appending a character must change this occurrence.
    if (textOf(parseObject(`${data.slice(0, end)}.${data.slice(end)}`) ?? {}) !== `${text}.`) return;
    this.#name = name;
    this.#before = data.slice(0, begin + 1);
    this.#after = restOf(data, end);
  }
}
