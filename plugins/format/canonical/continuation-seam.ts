import type { Fragment } from './reply.ts';

const maxOverlap = 4_096; // characters before the seam to search for a repetition
const certainOverlap = 12; // characters; a repetition this long is never a coincidence
const minOverlap = 3; // characters; below `certainOverlap`, a repetition only counts if it begins with a word
const beginsWithLetter = /^\p{L}/u;
const endsInWord = /[\p{L}\p{N}_]$/u;

/**
 * Joins the texts of two routes. Models tend to repeat the end of the text that they continue. The repetition is removed, and so is any
 * reasoning. Text is held back while it may still turn out to be a repetition.
 */
export class ContinuationSeam {
  readonly #tail: string;
  #heldText = '';
  #isSeamPassed = false;
  #hasContent = false;

  constructor(sentText: string) {
    this.#tail = sentText.slice(-maxOverlap);
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  filter(fragments: readonly Fragment[]): Fragment[] {
    return fragments.flatMap((fragment) => this.#filterFragment(fragment));
  }

  #filterFragment(fragment: Fragment): Fragment[] {
    switch (fragment.type) {
      case 'text':
        return this.#joinText(fragment.text);
      case 'reasoning':
      case 'reasoning_state':
        return [];
      case 'break':
        // The break only closes removed reasoning, so the text before the seam continues.
        return this.#hasContent ? [fragment] : [];
      case 'citation':
        // These offsets count from the seam, but the block began before it.
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

  #joinText(text: string): Fragment[] {
    if (this.#isSeamPassed) return this.#emitText(text);
    this.#heldText += text;
    const repeatedLength = countRepeated(this.#tail, this.#heldText);
    if (repeatedLength === undefined) return [];
    this.#heldText = this.#heldText.slice(repeatedLength);
    return this.#release();
  }

  #release(): Fragment[] {
    const text = this.#heldText;
    this.#heldText = '';
    this.#isSeamPassed = true;
    return this.#emitText(text);
  }

  #emitText(text: string): Fragment[] {
    if (text === '') return [];
    this.#hasContent = true;
    return [{ type: 'text', text }];
  }
}

/** Returns undefined if more text could extend the repetition. */
function countRepeated(tail: string, text: string): number | undefined {
  for (let start = 0; start < tail.length; start++) {
    const length = tail.length - start;
    const isSame = length > text.length ? tail.startsWith(text, start) : text.startsWith(tail.slice(start));
    if (isSame && isRepetition(tail, start)) return length > text.length ? undefined : length;
  }
  return 0;
}

/** Excludes short overlaps, especially of digits, which may be coincidences. White space counts, because no answer begins with it. */
function isRepetition(tail: string, start: number): boolean {
  const overlap = tail.slice(start);
  if (overlap.length >= certainOverlap || overlap.trim() === '') return true;
  if (overlap.length < minOverlap || !beginsWithLetter.test(overlap)) return false;
  return !endsInWord.test(tail.slice(0, start));
}
