/** Two equal consecutive pieces of at least this many characters count as one piece sent twice. */
const minRepeatLength = 16;
/** FNV-1a: the hash of an empty text, and the factor for each added character. */
export const fnv = { offset: 0x811c9dc5, prime: 0x01000193 };

/**
 * Filters repetitions out of a text. The methods that take text return the new part of it. Keeps only the text's length and a hash, because
 * replies are long and many are in flight.
 */
export class TextTracker {
  #length = 0;
  /** Hash of the text without its last piece. A whole reply has only one piece, so it needs no hash. */
  #hashBeforeLast = fnv.offset;
  #lastPiece = '';
  /** True if every piece contains all pieces before it; undefined until the second piece. */
  #isCumulative: boolean | undefined;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get length(): number {
    return this.#length;
  }

  get isCumulative(): boolean {
    return this.#isCumulative === true;
  }

  appendDelta(text: string): string {
    return this.#add(text);
  }

  /** xAI sends the last piece twice. */
  appendUnlessRepeated(text: string): string {
    return this.isRepetition(text) ? '' : this.#add(text);
  }

  isRepetition(text: string): boolean {
    return text.length >= minRepeatLength && text === this.#lastPiece;
  }

  /** For vendors that may repeat all earlier text, such as MiniMax. */
  appendDeltaOrSnapshot(text: string): string {
    if (text === '') return '';
    if (!this.isEmpty) this.#isCumulative ??= this.isStartOf(text);
    return this.isCumulative ? this.appendSnapshot(text) : this.#add(text);
  }

  /** After the finish reason, MiniMax repeats the whole text and other vendors repeat the last piece. */
  appendAfterFinish(text: string): string {
    if (text === this.#lastPiece) return '';
    return this.isStartOf(text) ? this.appendSnapshot(text) : this.#add(text);
  }

  /** Ignores a text that does not start with the text so far. */
  appendSnapshot(text: string): string {
    return this.isStartOf(text) ? this.#add(text.slice(this.#length)) : '';
  }

  equals(text: string): boolean {
    return text.length === this.#length && this.isStartOf(text);
  }

  isStartOf(text: string): boolean {
    return text.length >= this.#length && extendHash(fnv.offset, text, this.#length) === this.#hash();
  }

  #add(text: string): string {
    if (text === '') return text;
    this.#hashBeforeLast = this.#hash();
    this.#lastPiece = text;
    this.#length += text.length;
    return text;
  }

  #hash(): number {
    return extendHash(this.#hashBeforeLast, this.#lastPiece, this.#lastPiece.length);
  }
}

function extendHash(hash: number, text: string, prefixLength: number): number {
  let extended = hash;
  for (let index = 0; index < prefixLength; index++) extended = Math.imul(extended ^ text.charCodeAt(index), fnv.prime);
  return extended;
}
