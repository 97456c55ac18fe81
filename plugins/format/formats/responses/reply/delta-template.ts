import { endOfString, unescaped } from '#core/platform/json-scan.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { endOfRepeated } from '../../../canonical/repeated-event.ts';
import type { GrowingText } from './streamed-item.ts';

const textBegin = /"delta"\s*:\s*"/;
const sequenceNumber = /(?<="sequence_number"\s*:\s*)\d+/;

const maxMisses = 3;

type NamedData = Pick<StreamEvent, 'name' | 'data'>;

/** A part of the data that all deltas share; split into two pieces if it contains the number. */
type Part = readonly [string, string?];

interface Pieces {
  readonly before: Part;
  /** The part after the text; undefined if the number precedes the text, because the part after it does not matter then. */
  readonly after: Part | undefined;
}

/**
 * Recognizes deltas that differ only in number and text from a delta that needed no repair. Such deltas need no repair either
 * and are not parsed. OpenAI writes the number before the text, vLLM after it.
 */
export class DeltaTemplate {
  #name: string | undefined;
  #pieces: Pieces | undefined;
  #grown: GrowingText | undefined;
  /** Number of characters in all matched texts. */
  taken = 0;
  /** Number of consecutive templates that matched no event. */
  #misses = 0;

  /**
   * Derives the template from a clean delta.
   *
   * @param grown text to which the delta was appended
   */
  learn({ name, data = '' }: NamedData, grown: GrowingText): void {
    // Deltas of some vendors have no constant pieces.
    if (grown === this.#grown && ++this.#misses > maxMisses) return;
    if (grown !== this.#grown) this.#misses = 0;
    const pieces = piecesOf(data);
    const constant = [...(pieces?.before ?? []), ...(pieces?.after ?? [])].join('');
    this.#pieces = grown.names.every((member) => constant.includes(member)) ? pieces : undefined;
    this.#name = name;
    this.#grown = grown;
  }

  /**
   * The text of an event that matches the template; undefined for any other event.
   *
   * @param number number of the next event; any number if events have none
   */
  read({ name, data = '' }: NamedData, number: number | undefined): string | undefined {
    if (this.#pieces === undefined || number === undefined || name !== this.#name) return undefined;
    const before = numbered(this.#pieces.before, number);
    const end = endOfRepeated(data, before);
    const { after } = this.#pieces;
    if (end === undefined || (after !== undefined && data.slice(end) !== numbered(after, number))) return undefined;
    this.#misses = 0;
    const text = unescaped(data.slice(before.length, end));
    this.taken += text.length;
    this.#grown?.add(text);
    return text;
  }
}

function numbered([head, tail]: Part, number: number): string {
  return tail === undefined ? head : `${head}${number}${tail}`;
}

/** Undefined for data without a text. */
function piecesOf(data: string): Pieces | undefined {
  const found = textBegin.exec(data);
  if (found === null) return undefined;
  const textAt = found.index + found[0].length;
  const before = partOf(data.slice(0, textAt));
  if (before.length === 2) return { before, after: undefined };
  return { before, after: partOf(data.slice(endOfString(data, textAt - 1))) };
}

function partOf(text: string): Part {
  const found = sequenceNumber.exec(text);
  return found === null ? [text] : [text.slice(0, found.index), text.slice(found.index + found[0].length)];
}
