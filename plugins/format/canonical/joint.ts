import type { Fragment } from './reply.ts';

/** Characters before the joint in which a repetition is looked for, and so the longest that is found. */
const longestOverlap = 4_096;
/** From this length on a repetition is none by chance, wherever it begins. */
const surelyMeant = 12;
/** Shorter ones count where they begin with a word, from this length on. */
const perhapsMeant = 3;
const beginsWithLetter = /^\p{L}/u;
const endsInWord = /[\p{L}\p{N}_]$/u;

/**
 * Stands where a second route goes on with the text of a first one. Models like to take a run-up: what they repeat of
 * the text before is left out, and so is what they thought about going on. Text is held back while it may still turn out
 * to be such a repetition.
 */
export class Joint {
  readonly #tail: string;
  #held = '';
  #isPast = false;
  #hasContent = false;

  /** @param sent the text before the joint */
  constructor(sent: string) {
    this.#tail = sent.slice(-longestOverlap);
  }

  /** True once something of the second route's answer has passed. */
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
        // Ends a thought that is left out: the text before the joint goes on.
        return this.#hasContent ? [fragment] : [];
      case 'citation':
        // Offsets count from the joint, and the block began before it.
        return [{ ...fragment, citation: { ...fragment.citation, start: undefined, end: undefined } }];
      case 'loss':
      case 'usage':
      case 'error':
        return [fragment];
      case 'finish':
      case 'end':
        return [...this.#release(), fragment];
      case 'refusal':
      case 'call':
      case 'input':
      case 'call_end': {
        const before = this.#release();
        this.#hasContent = true;
        return [...before, fragment];
      }
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

/** Characters at the beginning of `text` that repeat the end of `tail`; undefined while more text may make it longer. */
function countRepeated(tail: string, text: string): number | undefined {
  for (let begin = 0; begin < tail.length; begin++) {
    const length = tail.length - begin;
    const isSame = length > text.length ? tail.startsWith(text, begin) : text.startsWith(tail.slice(begin));
    if (isSame && isRepetition(tail, begin)) return length > text.length ? undefined : length;
  }
  return 0;
}

/** A few characters may be the same by chance, numbers above all; white space is not: nobody begins with more of it. */
function isRepetition(tail: string, begin: number): boolean {
  const end = tail.slice(begin);
  if (end.length >= surelyMeant || end.trim() === '') return true;
  if (end.length < perhapsMeant || !beginsWithLetter.test(end)) return false;
  return !endsInWord.test(tail.slice(0, begin));
}
