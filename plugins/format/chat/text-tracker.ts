/** Characters from which on two equal pieces in a row are one that was sent twice. */
const repeatLength = 16;

/** Knows what of a text has come, so that nothing is said twice. */
export class TextTracker {
  #text = '';
  #last = '';
  /** Every piece holds all those before it. Undefined until the second piece has shown it. */
  #isCumulative: boolean | undefined;

  /** The next piece. */
  piece(text: string): string {
    return this.#add(text);
  }

  /** The next piece; xAI sends the last one twice. */
  pieceOnce(text: string): string {
    return text === this.#last && text.length >= repeatLength ? '' : this.#add(text);
  }

  /** The next piece of a vendor that may repeat all that came before: MiniMax. */
  pieceOrAll(text: string): string {
    if (text === '') return '';
    if (this.#text !== '') this.#isCumulative ??= text.startsWith(this.#text);
    return this.#isCumulative === true ? this.whole(text) : this.#add(text);
  }

  get isCumulative(): boolean {
    return this.#isCumulative === true;
  }

  /** All of it: what is still missing. A text that goes another way has been said already. */
  whole(text: string): string {
    return text.startsWith(this.#text) ? this.#add(text.slice(this.#text.length)) : '';
  }

  #add(text: string): string {
    if (text !== '') this.#last = text;
    this.#text += text;
    return text;
  }
}
