import { endOfString } from '#core/json.ts';
import type { StreamEvent } from '#core/model-call/event-framer.ts';
import type { GrowingText } from './growing-text.ts';

/** The data of a delta up to its text, with the number of the event in the middle. */
const beginning = /^(\{[^]*?"sequence_number"\s*:\s*)\d+(\s*,[^]*?"delta"\s*:\s*")/;

/**
 * Recognizes deltas that differ in number and text only from one that needed no repair. They need none either, and are not
 * parsed. Vendors that write the text before the item's id have no such beginning, and their deltas are.
 */
export class DeltaTemplate {
  #name: string | undefined;
  #head = '';
  #middle = '';
  #grown: GrowingText | undefined;

  /** Learns from a clean delta. @param grown what it has added to */
  learn({ name, data = '' }: StreamEvent, grown: GrowingText): void {
    const [, head = '', middle = ''] = beginning.exec(data) ?? [];
    const isWhole = grown.names.every((member) => head.includes(member) || middle.includes(member));
    this.#name = isWhole ? name : undefined;
    this.#head = head;
    this.#middle = middle;
    this.#grown = grown;
  }

  /** True for such a delta, whose text is then taken. @param number of the next event */
  takes({ name, data = '' }: StreamEvent, number: number | undefined): boolean {
    if (this.#name === undefined || name !== this.#name || number === undefined) return false;
    const digits = String(number);
    const middleAt = this.#head.length + digits.length;
    const textAt = middleAt + this.#middle.length;
    if (!data.startsWith(this.#head) || !data.startsWith(digits, this.#head.length)) return false;
    if (!data.startsWith(this.#middle, middleAt)) return false;
    const end = endOfString(data, textAt - 1);
    const text = data.slice(textAt, end);
    this.#grown?.add(text.includes('\\') ? unescape(text) : text);
    return true;
  }
}

/** @param text the inside of a JSON string */
function unescape(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}
