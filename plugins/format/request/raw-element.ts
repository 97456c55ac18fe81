const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Reads JSON that is known to be valid, without parsing it. It may end anywhere: what lies behind its end is not found. */
class RawReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get at(): number {
    return this.#at;
  }

  /** Passes this byte, after white space. @returns false when another one is there */
  pass(byte: number): boolean {
    this.#skipSpace();
    if (this.#bytes[this.#at] !== byte) return false;
    this.#at++;
    return true;
  }

  /** Passes a value. @returns its bytes; undefined when it is not all there */
  value(): Buffer | undefined {
    this.#skipSpace();
    const from = this.#at;
    let depth = 0;
    do {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) return undefined;
      if (byte === quote) {
        if (!this.#skipString()) return undefined;
        continue;
      }
      if (byte === openArray || byte === openObject) depth++;
      else if (byte === closeArray || byte === closeObject) depth--;
      this.#at++;
      // A number or a word ends where something else begins.
      if (depth === 0 && byte !== closeArray && byte !== closeObject) this.#skipWord();
    } while (depth > 0);
    return this.#bytes.subarray(from, this.#at);
  }

  #skipString(): boolean {
    let end = this.#at;
    do {
      end = this.#bytes.indexOf(quote, end + 1);
      if (end < 0) return false;
    } while (this.#isEscaped(end));
    this.#at = end + 1;
    return true;
  }

  #isEscaped(at: number): boolean {
    let before = at - 1;
    while (this.#bytes[before] === backslash) before--;
    return (at - before) % 2 === 0;
  }

  #skipWord(): void {
    while (isOfWord(this.#bytes[this.#at])) this.#at++;
  }

  #skipSpace(): void {
    while (isSpace(this.#bytes[this.#at])) this.#at++;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isOfWord(byte: number | undefined): boolean {
  return byte !== undefined && !isSpace(byte) && byte !== comma && byte !== closeArray && byte !== closeObject;
}

/**
 * An element of an array that is a member of a JSON object, without reading what comes behind it.
 *
 * @param bytes the beginning of valid JSON
 * @returns undefined where it is not there, or is cut by the end
 */
export function rawElement(bytes: Buffer, member: string, index: number): string | undefined {
  const reader = new RawReader(bytes);
  if (!reader.pass(openObject)) return undefined;
  do {
    const name = reader.value();
    if (name === undefined || !reader.pass(colon)) return undefined;
    if (name.toString() === `"${member}"`) return elementOf(reader, index);
    if (reader.value() === undefined) return undefined;
  } while (reader.pass(comma));
  return undefined;
}

function elementOf(reader: RawReader, index: number): string | undefined {
  if (!reader.pass(openArray)) return undefined;
  for (let at = 0; at < index; at++) if (reader.value() === undefined || !reader.pass(comma)) return undefined;
  return reader.value()?.toString();
}
