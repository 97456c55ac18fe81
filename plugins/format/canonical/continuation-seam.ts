import type { Fragment } from './reply.ts';

const maxOverlap = 4_096; // characters before the seam that are searched for a repetition
const certainOverlap = 12; // characters; a repetition this long is never a coincidence
const minOverlap = 3; // characters; below `certainOverlap`, a repetition counts only if it begins with a word
const beginsWithLetter = /^\p{L}/u;
const endsInWord = /[\p{L}\p{N}_]$/u;

/**
 * Joins the texts of two routes. Models tend to repeat the end of the text that they continue: the repetition is removed,
 * and so is any reasoning. Text is held back while it may still turn out to be a repetition.
 */
export class ContinuationSeam {
  readonly #tail: string;
  #held = '';
  #isPast = false;
  #hasContent = false;

  constructor(sent: string) {
    this.#tail = sent.slice(-maxOverlap);
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  take(fragments: readonly Fragment[]): Fragment[] {
    return fragments.flatMap((fragment) => this.#take(fragment));
  }

  #take(fragment: Fragment): Fragment[] {
    switch (fragment.type) {
      case 'text':
        return this.#text(fragment.text);
      case 'reasoning':
      case 'reasoning_state':
        return [];
      case 'break':
        // The break closes removed reasoning: the text before the seam continues.
        return this.#hasContent ? [fragment] : [];
      case 'citation':
        // Offsets are relative to the seam, but the block began before it.
        return [{ ...fragment, citation: { ...fragment.citation, start: undefined, end: undefined } }];
      case 'finish':
      case 'end':
        return [...this.#release(), fragment];
      case 'refusal':
      case 'image':
      case 'call':
      case 'input':
      case 'call_end': {
        const before = this.#release();
        this.#hasContent = true;
        return [...before, fragment];
      }
      default:
        return [fragment];
    }
  }

  #text(text: string): Fragment[] {
    if (this.#isPast) return this.#pass(text);
    this.#held += text;
    const repeated = countRepeated(this.#tail, this.#held);
    if (repeated === undefined) return [];
    this.#held = this.#held.slice(repeated);
    return this.#release();
  }

  #release(): Fragment[] {
    const text = this.#held;
    this.#held = '';
    this.#isPast = true;
    return this.#pass(text);
  }

  #pass(text: string): Fragment[] {
    if (text === '') return [];
    this.#hasContent = true;
    return [{ type: 'text', text }];
  }
}

/** Characters at the start of `text` that repeat the end of `tail`; undefined while more text could extend the repetition. */
function countRepeated(tail: string, text: string): number | undefined {
  for (let begin = 0; begin < tail.length; begin++) {
    const length = tail.length - begin;
    const isSame = length > text.length ? tail.startsWith(text, begin) : text.startsWith(tail.slice(begin));
    if (isSame && isRepetition(tail, begin)) return length > text.length ? undefined : length;
  }
  return 0;
}

/** Short repetitions, especially of digits, may be coincidence. Repeated white space is not: models do not begin with it. */
function isRepetition(tail: string, begin: number): boolean {
  const end = tail.slice(begin);
  if (end.length >= certainOverlap || end.trim() === '') return true;
  if (end.length < minOverlap || !beginsWithLetter.test(end)) return false;
  return !endsInWord.test(tail.slice(0, begin));
}
