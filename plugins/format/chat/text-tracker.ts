/** The least characters of two equal consecutive pieces to be one that was sent twice. */
const repeatLength = 16;

/** Tracks the text so far, so that nothing is repeated. */
export class TextTracker {
  #text = '';
  #last = '';
  /** True when every piece contains all those before it; undefined until the second piece. */
  #isCumulative: boolean | undefined;

  /** The next piece. */
  piece(text: string): string {
    return this.#add(text);
  }

  /** The next piece; xAI sends the last one twice. */
  pieceOnce(text: string): string {
    return text === this.#last && text.length >= repeatLength ? '' : this.#add(text);
  }

  /** The next piece of a vendor that may repeat all before it: MiniMax. */
  pieceOrAll(text: string): string {
    if (text === '') return '';
    if (this.#text !== '') this.#isCumulative ??= text.startsWith(this.#text);
    return this.#isCumulative === true ? this.whole(text) : this.#add(text);
  }

  get isCumulative(): boolean {
    return this.#isCumulative === true;
  }

  /** Takes the whole text and returns what is missing. A different text is ignored. */
  whole(text: string): string {
    return text.startsWith(this.#text) ? this.#add(text.slice(this.#text.length)) : '';
  }

  #add(text: string): string {
    if (text !== '') this.#last = text;
    this.#text += text;
    return text;
  }
}
