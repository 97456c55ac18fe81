import { fnv } from './text-tracker.ts';

const [quote, backslash, openBrace, closeBrace] = [0x22, 0x5c, 0x7b, 0x7d];

const whiteSpace: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Detects incrementally whether a JSON text is a closed object. Checks only the braces: the rest may be malformed. */
export class ObjectScanner {
  /** Hash of the text without the white space between its tokens. */
  #fingerprint = fnv.offset;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasOpened = false;
  #isBlank = true;

  get isBlank(): boolean {
    return this.#isBlank;
  }

  get isWhole(): boolean {
    return this.#hasOpened && this.#depth === 0;
  }

  /** True if the texts are equal except for white space. A blank text equals an empty object. */
  isSame(text: string): boolean {
    const other = new ObjectScanner();
    other.take(text);
    return this.#orEmpty === other.#orEmpty;
  }

  get #orEmpty(): number {
    return this.#isBlank ? emptyObject : this.#fingerprint;
  }

  take(text: string): void {
    this.#isBlank &&= text.trim() === '';
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#isInString || !whiteSpace.has(code)) this.#fingerprint = Math.imul(this.#fingerprint ^ code, fnv.prime);
      if (this.#isInString) this.#string(code);
      else if (code === quote) this.#isInString = true;
      else if (code === openBrace) this.#open();
      else if (code === closeBrace) this.#depth--;
    }
  }

  #open(): void {
    this.#hasOpened = true;
    this.#depth++;
  }

  #string(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#isInString = false;
  }
}

const emptyObject = [openBrace, closeBrace].reduce((so, code) => Math.imul(so ^ code, fnv.prime), fnv.offset);
