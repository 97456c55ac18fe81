/** A piece of text, divided. */
export interface SplitText {
  readonly reasoning: string;
  readonly text: string;
}

const opening = '<think>';
const closing = '</think>';

/**
 * Separates reasoning at the beginning of a text, `<think>…</think>`, from the answer. Later tags are text, because a
 * model may write about them.
 */
export class ThinkSplitter {
  #place: 'before' | 'within' | 'after' | 'answer' = 'before';
  /** Text that may be the beginning of a tag. */
  #held = '';
  #hasThought = false;

  /** True when all that follows is text. */
  get isDone(): boolean {
    return this.#place === 'answer';
  }

  take(text: string): SplitText {
    this.#held += text;
    if (this.#place === 'before') this.#begin();
    const reasoning = this.#think();
    return { reasoning, text: this.#answer() };
  }

  /** The remainder at the end. Reasoning without a closing tag stays reasoning. */
  rest(): SplitText {
    const text = this.#held;
    this.#held = '';
    if (this.#place === 'within') return { reasoning: text.trimEnd(), text: '' };
    return { reasoning: '', text: this.#place === 'before' ? text : '' };
  }

  #begin(): void {
    const start = this.#held.trimStart();
    if (start.startsWith(opening)) {
      this.#place = 'within';
      this.#held = start.slice(opening.length);
    } else if (!opening.startsWith(start)) this.#place = 'answer';
  }

  #think(): string {
    if (this.#place !== 'within') return '';
    if (!this.#hasThought) this.#held = this.#held.trimStart();
    const end = this.#held.indexOf(closing);
    const thought = end === -1 ? withoutTail(this.#held) : this.#held.slice(0, end).trimEnd();
    this.#held = this.#held.slice(end === -1 ? thought.length : end + closing.length);
    if (end !== -1) this.#place = 'after';
    this.#hasThought ||= thought !== '';
    return thought;
  }

  /** The blank line between reasoning and answer belongs to neither. */
  #answer(): string {
    if (this.#place !== 'after' && this.#place !== 'answer') return '';
    const answer = this.#place === 'after' ? this.#held.trimStart() : this.#held;
    if (answer !== '') this.#place = 'answer';
    this.#held = '';
    return answer;
  }
}

/** The part that is certainly reasoning: without the beginning of a closing tag and the white space before it. */
function withoutTail(text: string): string {
  for (let length = Math.min(text.length, closing.length - 1); length > 0; length--) {
    if (text.endsWith(closing.slice(0, length))) return text.slice(0, -length).trimEnd();
  }
  return text.trimEnd();
}
