import { fnv } from './text-tracker.ts';

const [quote, backslash, openBrace, closeBrace] = [0x22, 0x5c, 0x7b, 0x7d];

const whiteSpace: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const emptyObjectHash = [openBrace, closeBrace].reduce((hash, code) => Math.imul(hash ^ code, fnv.prime), fnv.offset);

/** Detects, piece by piece, whether a JSON text is a complete object. Only checks the braces, so the text may be malformed. */
export class ObjectScanner {
  #hash = fnv.offset;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasOpened = false;
  #isBlank = true;

  get isBlank(): boolean {
    return this.#isBlank;
  }

  get isClosed(): boolean {
    return this.#hasOpened && this.#depth === 0;
  }

  /** Returns true if the texts are equal except for white space. A blank text equals an empty object. */
  matches(text: string): boolean {
    const otherScanner = new ObjectScanner();
    otherScanner.scan(text);
    return this.#comparableHash === otherScanner.#comparableHash;
  }

  get #comparableHash(): number {
    return this.#isBlank ? emptyObjectHash : this.#hash;
  }

  scan(text: string): void {
    this.#isBlank &&= text.trim() === '';
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (this.#isInString || !whiteSpace.has(code)) this.#hash = Math.imul(this.#hash ^ code, fnv.prime);
      if (this.#isInString) this.#scanString(code);
      else if (code === quote) this.#isInString = true;
      else if (code === openBrace) this.#openObject();
      else if (code === closeBrace) this.#depth--;
    }
  }

  #openObject(): void {
    this.#hasOpened = true;
    this.#depth++;
  }

  #scanString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#isInString = false;
  }
}
