import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { findStringEnd, unescapeString } from '#core/platform/json-scan.ts';
import { findTextEnd } from '../../../canonical/repeated-event.ts';
import type { GrowingText } from './streamed-item.ts';

const textStartPattern = /"delta"\s*:\s*"/;
const sequenceNumberPattern = /(?<="sequence_number"\s*:\s*)\d+/;

/** Number of consecutive unused templates after which no more are learned for a text. */
const maxMisses = 3;

type NamedData = Pick<StreamEvent, 'name' | 'data'>;

/** A piece of the data that all deltas share; split in two if it contains the sequence number. */
type Part = readonly [string, string?];

interface Pieces {
  readonly before: Part;
  /** The piece after the text; undefined, and not compared, if the number precedes the text. */
  readonly after: Part | undefined;
}

/**
 * Recognizes deltas that differ only in number and text from a delta that needed no repair. Such deltas need no repair and
 * are not parsed. OpenAI writes the number before the text, vLLM after it.
 */
export class DeltaTemplate {
  #name: string | undefined;
  #pieces: Pieces | undefined;
  #text: GrowingText | undefined;
  /** Number of characters in all matched texts. */
  matchedCharacters = 0;
  /** Number of consecutive templates that matched no event. */
  #misses = 0;

  /**
   * Derives the template from a clean delta.
   *
   * @param text the text that the delta was appended to
   */
  learn({ name, data = '' }: NamedData, text: GrowingText): void {
    // Deltas of some vendors have no constant pieces.
    if (text === this.#text && ++this.#misses > maxMisses) return;
    if (text !== this.#text) this.#misses = 0;
    const pieces = splitDelta(data);
    const constant = [...(pieces?.before ?? []), ...(pieces?.after ?? [])].join('');
    this.#pieces = text.names.every((member) => constant.includes(member)) ? pieces : undefined;
    this.#name = name;
    this.#text = text;
  }

  /**
   * Appends the text of an event that matches the template. Returns the text; undefined for other events.
   *
   * @param number number of the next event; any number if events have none
   */
  read({ name, data = '' }: NamedData, number: number | undefined): string | undefined {
    if (this.#pieces === undefined || number === undefined || name !== this.#name) return undefined;
    const before = insertNumber(this.#pieces.before, number);
    const end = findTextEnd(data, before);
    const { after } = this.#pieces;
    if (end === undefined || (after !== undefined && data.slice(end) !== insertNumber(after, number))) return undefined;
    this.#misses = 0;
    const text = unescapeString(data.slice(before.length, end));
    this.matchedCharacters += text.length;
    this.#text?.add(text);
    return text;
  }
}

function insertNumber([head, tail]: Part, number: number): string {
  return tail === undefined ? head : `${head}${number}${tail}`;
}

/** Splits the data of a delta around its text; undefined if there is no text. */
function splitDelta(data: string): Pieces | undefined {
  const match = textStartPattern.exec(data);
  if (match === null) return undefined;
  const textOffset = match.index + match[0].length;
  const before = splitAtNumber(data.slice(0, textOffset));
  if (before.length === 2) return { before, after: undefined };
  return { before, after: splitAtNumber(data.slice(findStringEnd(data, textOffset - 1))) };
}

function splitAtNumber(text: string): Part {
  const match = sequenceNumberPattern.exec(text);
  return match === null ? [text] : [text.slice(0, match.index), text.slice(match.index + match[0].length)];
}
