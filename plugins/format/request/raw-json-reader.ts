const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Maximum steps for one text. Each byte outside strings costs one step, and each search for the end of a string `stepsPerSearch`.
 * A body of 32 MB with a million values takes fewer steps.
 */
const maxSteps = 4_000_000;
const stepsPerSearch = 8;

/**
 * Walks through JSON bytes without parsing them: values are skipped, strings with `indexOf`. The bytes may be truncated anywhere.
 * The caller must know that they are valid JSON, or validate the values that it uses.
 */
export class RawJsonReader {
  readonly #bytes: Buffer;
  #position = 0;
  #steps = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get position(): number {
    return this.#position;
  }

  /**
   * Skips white space.
   *
   * @returns the position after the white space
   */
  skipSpace(): number {
    while (isSpace(this.#bytes[this.#position])) {
      this.#position++;
      this.#steps++;
    }
    return this.#position;
  }

  /**
   * Skips white space and the given byte.
   *
   * @returns false if the next byte differs
   */
  consume(byte: number): boolean {
    this.skipSpace();
    if (this.#bytes[this.#position] !== byte) return false;
    this.#position++;
    return true;
  }

  isAtEnd(): boolean {
    return this.skipSpace() === this.#bytes.length;
  }

  /**
   * Skips white space and a value.
   *
   * @returns bytes of the value; undefined if it is truncated or takes too many steps. A number or literal at the end of the bytes counts
   *   as truncated, because more of it may follow
   */
  readValue(): Buffer | undefined {
    const start = this.skipSpace();
    return this.#skipValue() ? this.#bytes.subarray(start, this.#position) : undefined;
  }

  #skipValue(): boolean {
    let depth = 0;
    do {
      const byte = this.#bytes[this.#position];
      if (byte === undefined || ++this.#steps > maxSteps) return false;
      const isOpening = byte === openArray || byte === openObject;
      if (byte === quote) {
        if (!this.#skipString()) return false;
      } else if (depth === 0 && !isOpening) {
        return this.#skipWord();
      } else {
        if (isOpening) depth++;
        else if (byte === closeArray || byte === closeObject) depth--;
        this.#position++;
      }
    } while (depth > 0);
    return true;
  }

  #skipString(): boolean {
    let end = this.#position;
    do {
      this.#steps += stepsPerSearch;
      end = this.#bytes.indexOf(quote, end + 1);
      if (end < 0 || this.#steps > maxSteps) return false;
    } while (this.#isEscaped(end));
    this.#position = end + 1;
    return true;
  }

  #isEscaped(position: number): boolean {
    let previous = position - 1;
    while (this.#bytes[previous] === backslash) previous--;
    return (position - previous) % 2 === 0;
  }

  /** Skips a number or a literal. Fails if it reaches the end of the bytes. */
  #skipWord(): boolean {
    const start = this.#position;
    while (isWordByte(this.#bytes[this.#position])) this.#position++;
    this.#steps += this.#position - start;
    return this.#position > start && this.#position < this.#bytes.length;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isWordByte(byte: number | undefined): boolean {
  return byte !== undefined && !isSpace(byte) && byte !== comma && byte !== closeArray && byte !== closeObject;
}
