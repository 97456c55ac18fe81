import { type JsonObject, type JsonValue, parseJson, parseObject } from '#core/platform/json.ts';
import { endOfString } from '#core/platform/json-scan.ts';

/** Failed attempts to learn a template, after which none is made: some vendors write another number into each event. */
const mostLearned = 8;
/** Characters that a JSON string has only after a backslash, and the backslash. */
const special = /["\\\p{Cc}]/u;

type TextOf = (event: JsonObject) => JsonValue | undefined;

/**
 * Where the text ends in an event that begins like another one, up to the quote that opens the text; undefined for any other. Readers
 * then compare what follows: a JSON text that begins and ends like another has its members in the same places.
 */
export function endOfRepeated(data: string, before: string): number | undefined {
  // Comparing slices is the fastest way.
  return data.slice(0, before.length) === before ? endOfString(data, before.length - 1) : undefined;
}

/** A text with which OpenAI hides the lengths of its events. */
const padding = '"obfuscation":"';

/** The end of an event; in two pieces where padding, which no reader needs, is between them. */
export type Rest = readonly [string, string?];

/** @param outside from where on there may be padding */
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
 * Reads events that differ from the last one that was parsed in one text only, without parsing them: nearly all tokens of an answer
 * come this way.
 */
export class RepeatedEvent {
  #name: string | undefined;
  /** Up to the quote that opens the text, and from the one that closes it; undefined while no event is known. */
  #before: string | undefined;
  #after: Rest = [''];
  #learned = 0;

  read(name: string | undefined, data: string): string | undefined {
    const before = this.#before;
    if (before === undefined || name !== this.#name || data.slice(0, before.length) !== before) return undefined;
    const [after, behind] = this.#after;
    // Without a search, as a rule: what is between the two is looked at below.
    const end = behind === undefined ? data.length - after.length : endOfString(data, before.length - 1);
    if (end < before.length || !hasRest(data, end, this.#after)) return undefined;
    const literal = data.slice(before.length, end);
    const text = special.test(literal) ? parseJson(`"${literal}"`) : literal;
    if (typeof text !== 'string') return undefined;
    this.#learned = 0;
    return text;
  }

  /**
   * Learns the event that was parsed last.
   *
   * @param text all that it says; undefined for an event that says anything else
   */
  learn(name: string | undefined, data: string, text: string | undefined, textOf: TextOf): void {
    this.#before = undefined;
    if (text === undefined || text === '' || this.#learned >= mostLearned) return;
    this.#learned++;
    const literal = JSON.stringify(text);
    const begin = data.indexOf(literal);
    if (begin === -1) return;
    const end = begin + literal.length - 1;
    // The same text may stand in other places: a character more must be in this one.
    if (textOf(parseObject(`${data.slice(0, end)}.${data.slice(end)}`) ?? {}) !== `${text}.`) return;
    this.#name = name;
    this.#before = data.slice(0, begin + 1);
    this.#after = restOf(data, end);
  }
}
