/** Minimum characters for two equal consecutive pieces to count as one piece sent twice. */
const repeatLength = 16;
/** FNV-1a: the hash of an empty text, and the factor for each added character. */
export const fnv = { offset: 0x811c9dc5, prime: 0x01000193 };

/**
 * Tracks the text so far to filter out repetitions. Keeps the length and a hash, not the text: answers are long, and
 * many are in flight.
 */
export class TextTracker {
  #length = 0;
  /** Hash of all but the last piece: a whole reply has only one piece and needs no hash. */
  #fingerprint = fnv.offset;
  #last = '';
  /** True when every piece contains all those before it; undefined until the second piece. */
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

  piece(text: string): string {
    return this.#add(text);
  }

  /** Takes the next piece. xAI sends the last piece twice. */
  pieceOnce(text: string): string {
    return this.isRepetition(text) ? '' : this.#add(text);
  }

  isRepetition(text: string): boolean {
    return text.length >= repeatLength && text === this.#last;
  }

  /** Takes the next piece from a vendor that may repeat all earlier text, such as MiniMax. */
  pieceOrAll(text: string): string {
    if (text === '') return '';
    if (!this.isEmpty) this.#isCumulative ??= this.begins(text);
    return this.isCumulative ? this.whole(text) : this.#add(text);
  }

  /** Takes a piece after the finish: MiniMax repeats the whole text there, and other vendors repeat the last piece. */
  pieceAfterEnd(text: string): string {
    if (text === this.#last) return '';
    return this.begins(text) ? this.whole(text) : this.#add(text);
  }

  /** Takes the whole text and returns the missing part. A different text is ignored. */
  whole(text: string): string {
    return this.begins(text) ? this.#add(text.slice(this.#length)) : '';
  }

  isText(text: string): boolean {
    return text.length === this.#length && this.begins(text);
  }

  begins(text: string): boolean {
    return text.length >= this.#length && extend(fnv.offset, text, this.#length) === this.#withLast();
  }

  #add(text: string): string {
    if (text === '') return text;
    this.#fingerprint = this.#withLast();
    this.#last = text;
    this.#length += text.length;
    return text;
  }

  #withLast(): number {
    return extend(this.#fingerprint, this.#last, this.#last.length);
  }
}

/** Adds the first `length` characters of a text to a hash. */
function extend(fingerprint: number, text: string, length: number): number {
  let extended = fingerprint;
  for (let at = 0; at < length; at++) extended = Math.imul(extended ^ text.charCodeAt(at), fnv.prime);
  return extended;
}
