import { endOfString } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { GrowingText } from './streamed-item.ts';

const textBegin = /"delta"\s*:\s*"/;
const numberBegin = /^[^]*?"sequence_number"\s*:\s*(?=\d)/;

const maxMisses = 3;

/** The constant pieces of a delta's data, around its number and its text. */
interface Pieces {
  readonly head: string;
  readonly middle: string;
  /** What follows where the number comes behind the text; undefined where what follows does not matter. */
  readonly end: string | undefined;
}

/**
 * Recognizes deltas that differ in number and text only from one that needed no repair. They need none either, and are not
 * parsed. OpenAI writes the number before the text, vLLM behind it.
 */
export class DeltaTemplate {
  #name: string | undefined;
  #pieces: Pieces | undefined;
  #grown: GrowingText | undefined;
  /** Characters of all texts that were taken. */
  taken = 0;
  /** Times in a row that something was learned and did not apply. */
  #misses = 0;

  /** Derives the template from a clean delta. @param grown the text that the delta was appended to */
  learn({ name, data = '' }: StreamEvent, grown: GrowingText): void {
    // Deltas of some vendors have no constant pieces.
    if (grown === this.#grown && ++this.#misses > maxMisses) return;
    if (grown !== this.#grown) this.#misses = 0;
    const pieces = piecesOf(data);
    const constant = pieces && pieces.head + pieces.middle;
    this.#pieces =
      constant !== undefined && grown.names.every((member) => constant.includes(member)) ? pieces : undefined;
    this.#name = name;
    this.#grown = grown;
  }

  /** True for such a delta, whose text is then taken. @param number of the next event */
  takes({ name, data = '' }: StreamEvent, number: number | undefined): boolean {
    if (this.#pieces === undefined || number === undefined || name === undefined || name !== this.#name) return false;
    const { head, middle, end } = this.#pieces;
    if (!data.startsWith(head)) return false;
    const digits = String(number);
    const textAt = end === undefined ? head.length + digits.length + middle.length : head.length;
    const textEnd = endOfString(data, textAt - 1);
    const isSame =
      end === undefined
        ? data.startsWith(digits, head.length) && data.startsWith(middle, head.length + digits.length)
        : data.startsWith(middle, textEnd) && data.slice(textEnd + middle.length) === digits + end;
    if (!isSame) return false;
    this.#misses = 0;
    const text = data.slice(textAt, textEnd);
    this.taken += text.length;
    this.#grown?.add(text.includes('\\') ? unescape(text) : text);
    return true;
  }
}

/** Undefined for data without a text or a number. */
function piecesOf(data: string): Pieces | undefined {
  const found = textBegin.exec(data);
  if (found === null) return undefined;
  const textAt = found.index + found[0].length;
  const before = data.slice(0, textAt);
  const behind = data.slice(endOfString(data, textAt - 1));
  const [head] = numberBegin.exec(before) ?? [];
  if (head !== undefined) return { head, middle: before.slice(head.length).replace(/^\d+/, ''), end: undefined };
  const [middle] = numberBegin.exec(behind) ?? [];
  if (middle === undefined) return undefined;
  return { head: before, middle, end: behind.slice(middle.length).replace(/^\d+/, '') };
}

/** @param text the inside of a JSON string */
function unescape(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}
