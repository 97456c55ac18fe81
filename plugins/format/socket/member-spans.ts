import { parseJson } from '#core/platform/json.ts';

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Where a member of the outermost object stands. */
export interface RawMember {
  readonly name: string;
  readonly begin: number; // of its name
  readonly valueBegin: number;
  readonly end: number; // behind its value
}

/**
 * Steps that one text may take: a byte outside of strings is one, a string as many as a search for its end costs. A body of 32 MB with a
 * million values takes less.
 */
const mostSteps = 4_000_000;
const stepsOfSearch = 8;

/**
 * Finds the members of a JSON object without parsing them: their values are passed over, strings at the speed of a search. The
 * caller must still validate each value that it uses.
 *
 * @returns undefined for what is no object, ends early, or would take too long
 */
export function memberSpans(bytes: Buffer): readonly RawMember[] | undefined {
  const reader = new SpanReader(bytes);
  if (!reader.pass(openObject)) return undefined;
  const spans: RawMember[] = [];
  if (!reader.pass(closeObject)) {
    do {
      const span = reader.member();
      if (span === undefined) return undefined;
      spans.push(span);
    } while (reader.pass(comma));
    if (!reader.pass(closeObject)) return undefined;
  }
  return reader.isAtEnd() ? spans : undefined;
}

class SpanReader {
  readonly #bytes: Buffer;
  #at = 0;
  #steps = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Passes this byte, after white space. @returns false when another one is there */
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

  member(): RawMember | undefined {
    this.#skipSpace();
    const begin = this.#at;
    if (this.#bytes[begin] !== quote || !this.#skipString()) return undefined;
    const name = nameOf(this.#bytes.subarray(begin, this.#at));
    if (name === undefined || !this.pass(colon)) return undefined;
    this.#skipSpace();
    const valueBegin = this.#at;
    return this.#skipValue() ? { name, begin, valueBegin, end: this.#at } : undefined;
  }

  #skipValue(): boolean {
    let depth = 0;
    do {
      const byte = this.#bytes[this.#at];
      if (byte === undefined || ++this.#steps > mostSteps) return false;
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
      if (end < 0 || this.#steps > mostSteps) return false;
    } while (this.#isEscaped(end));
    this.#at = end + 1;
    return true;
  }

  #isEscaped(at: number): boolean {
    let before = at - 1;
    while (this.#bytes[before] === backslash) before--;
    return (at - before) % 2 === 0;
  }

  /** A number or a word. @returns false when there is none */
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

/** The name in a JSON string, which may be written with escapes. @returns undefined for none that is valid */
function nameOf(text: Buffer): string | undefined {
  if (!text.includes(backslash)) return text.toString('utf8', 1, text.length - 1);
  const name = parseJson(text.toString());
  return typeof name === 'string' ? name : undefined;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isOfWord(byte: number | undefined): boolean {
  return byte !== undefined && !isSpace(byte) && byte !== comma && byte !== closeArray && byte !== closeObject;
}
