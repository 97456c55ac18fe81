const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Maximum steps for one text. A byte outside of strings is one step; each search for the end of a string counts as `stepsOfSearch`.
 * A body of 32 MB with a million values takes fewer.
 */
const maxSteps = 4_000_000;
const stepsOfSearch = 8;

/**
 * Walks through JSON bytes without parsing them: values are skipped, strings at the speed of a search. The bytes may be truncated
 * anywhere. The caller must know that they are valid JSON, or validate the values that it uses.
 */
export class RawJsonReader {
  readonly #bytes: Buffer;
  #at = 0;
  #steps = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Current position. */
  get at(): number {
    return this.#at;
  }

  /**
   * Skips white space.
   *
   * @returns the position after it
   */
  begin(): number {
    this.#skipSpace();
    return this.#at;
  }

  /**
   * Skips white space and this byte.
   *
   * @returns false if the next byte is a different one
   */
  pass(byte: number): boolean {
    this.#skipSpace();
    if (this.#bytes[this.#at] !== byte) return false;
    this.#at++;
    return true;
  }

  isAtEnd(): boolean {
    this.#skipSpace();
    return this.#at === this.#bytes.length;
  }

  /**
   * Skips white space and a value.
   *
   * @returns bytes of the value; undefined if it is truncated or takes too many steps
   */
  value(): Buffer | undefined {
    const from = this.begin();
    return this.#skipValue() ? this.#bytes.subarray(from, this.#at) : undefined;
  }

  #skipValue(): boolean {
    let depth = 0;
    do {
      const byte = this.#bytes[this.#at];
      if (byte === undefined || ++this.#steps > maxSteps) return false;
      if (byte === quote) {
        if (!this.#skipString()) return false;
        continue;
      }
      if (byte === openArray || byte === openObject) depth++;
      else if (byte === closeArray || byte === closeObject) depth--;
      else if (depth === 0) return this.#skipWord();
      if (depth < 0) return false;
      this.#at++;
    } while (depth > 0);
    return true;
  }

  #skipString(): boolean {
    let end = this.#at;
    do {
      this.#steps += stepsOfSearch;
      end = this.#bytes.indexOf(quote, end + 1);
      if (end < 0 || this.#steps > maxSteps) return false;
    } while (this.#isEscaped(end));
    this.#at = end + 1;
    return true;
  }

  #isEscaped(at: number): boolean {
    let before = at - 1;
    while (this.#bytes[before] === backslash) before--;
    return (at - before) % 2 === 0;
  }

  /**
   * Skips a number or a literal name.
   *
   * @returns false if there is none
   */
  #skipWord(): boolean {
    const from = this.#at;
    while (isOfWord(this.#bytes[this.#at])) this.#at++;
    this.#steps += this.#at - from;
    return this.#at > from;
  }

  #skipSpace(): void {
    const from = this.#at;
    while (isSpace(this.#bytes[this.#at])) this.#at++;
    this.#steps += this.#at - from;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isOfWord(byte: number | undefined): boolean {
  return byte !== undefined && !isSpace(byte) && byte !== comma && byte !== closeArray && byte !== closeObject;
}
