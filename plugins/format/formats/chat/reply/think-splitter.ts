export interface SplitText {
  readonly reasoning: string;
  readonly text: string;
}

const openingTag = '<think>';
const closingTag = '</think>';

/**
 * Separates reasoning at the start of a text, `<think>…</think>`, from the answer. Later tags count as text, because a model may write
 * about them.
 */
export class ThinkSplitter {
  #state: 'start' | 'reasoning' | 'gap' | 'answer' = 'start';
  #held = '';
  #hasReasoning = false;

  /** True once the rest of the text cannot contain reasoning. */
  get isDone(): boolean {
    return this.#state === 'answer';
  }

  /** Text that may start a tag is held back until the next chunk or `finish`. */
  take(text: string): SplitText {
    this.#held += text;
    if (this.#state === 'start') this.#findOpeningTag();
    const reasoning = this.#takeReasoning();
    return { reasoning, text: this.#takeAnswer() };
  }

  /** Reasoning without a closing tag stays reasoning. */
  finish(): SplitText {
    const heldText = this.#held;
    this.#held = '';
    if (this.#state === 'reasoning') return { reasoning: heldText.trimEnd(), text: '' };
    return { reasoning: '', text: this.#state === 'start' ? heldText : '' };
  }

  #findOpeningTag(): void {
    const start = this.#held.trimStart();
    if (start.startsWith(openingTag)) {
      this.#state = 'reasoning';
      this.#held = start.slice(openingTag.length);
    } else if (!openingTag.startsWith(start)) this.#state = 'answer';
  }

  #takeReasoning(): string {
    if (this.#state !== 'reasoning') return '';
    if (!this.#hasReasoning) this.#held = this.#held.trimStart();
    const end = this.#held.indexOf(closingTag);
    const reasoning = end === -1 ? selectCertainReasoning(this.#held) : this.#held.slice(0, end).trimEnd();
    this.#held = this.#held.slice(end === -1 ? reasoning.length : end + closingTag.length);
    if (end !== -1) this.#state = 'gap';
    this.#hasReasoning ||= reasoning !== '';
    return reasoning;
  }

  #takeAnswer(): string {
    if (this.#state !== 'gap' && this.#state !== 'answer') return '';
    // The blank line between reasoning and answer belongs to neither.
    const answer = this.#state === 'gap' ? this.#held.trimStart() : this.#held;
    if (answer !== '') this.#state = 'answer';
    this.#held = '';
    return answer;
  }
}

/** Excludes text that may start the closing tag, and trailing white space, which is dropped if the tag follows. */
function selectCertainReasoning(text: string): string {
  for (let length = Math.min(text.length, closingTag.length - 1); length > 0; length--) {
    if (text.endsWith(closingTag.slice(0, length))) return text.slice(0, -length).trimEnd();
  }
  return text.trimEnd();
}
