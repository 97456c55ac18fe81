/**
 * Finds positions in JSON texts without parsing them. Texts are read once; strings, which make up most of a prompt or reply, are skipped
 * with `indexOf`.
 */

export const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Returns the index of the quote that closes the string opened at `start`; the text's length if the string is not closed. */
export function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(index - 1 - backslashes) === backslash) backslashes++;
  return backslashes % 2 === 1;
}

/** Decodes the content of a JSON string. Returns malformed content unchanged. */
export function unescapeString(literal: string): string {
  if (!literal.includes('\\')) return literal;
  try {
    return JSON.parse(`"${literal}"`) as string;
  } catch {
    return literal;
  }
}

/** Returns the index of the first character at or after `start` that is not white space. */
export function skipSpace(text: string, start: number): number {
  let index = start;
  while (isSpace(text.charCodeAt(index))) index++;
  return index;
}

export interface MemberPosition {
  readonly name: string; // as written, with escapes
  readonly start: number; // opening quote of the name
  readonly valueStart: number;
}

const unlimitedSteps = 2 ** 30; // more than the longest text takes
const stepsPerSearch = 8;

/**
 * Walks through a JSON text, which may be truncated anywhere, and skips values without parsing them. The caller must know that the text is
 * valid, or validate the values that it uses. On failure, the cursor moves past the end of the text, so every later step fails too.
 */
export class JsonCursor {
  readonly #text: string;
  #remainingSteps: number;
  position: number;

  /** @param maxSteps budget for skipping values: a character outside strings costs one step, each search for the end of a string eight */
  constructor(text: string, start = 0, maxSteps = unlimitedSteps) {
    this.#text = text;
    this.#remainingSteps = maxSteps;
    this.position = start;
  }

  /** Skips white space and the given character. Returns false, but does not fail, if another character follows. */
  consume(char: number): boolean {
    const position = skipSpace(this.#text, this.position);
    if (this.#text.charCodeAt(position) !== char) return false;
    this.position = position + 1;
    return true;
  }

  isAtEnd(): boolean {
    return skipSpace(this.#text, this.position) === this.#text.length;
  }

  /**
   * Skips white space and a value, and returns its text. Returns undefined if it is truncated or takes too many steps. A number or literal
   * at the end of the text counts as truncated, because more of it may follow.
   */
  readValue(): string | undefined {
    const start = skipSpace(this.#text, this.position);
    return this.#skipValue(start) ? this.#text.slice(start, this.position) : undefined;
  }

  /**
   * Moves to the value of the first member of an object that `isWanted` accepts. Returns undefined if no member is accepted; if the object
   * is truncated, the cursor also fails.
   *
   * @param isWanted called with the cursor on the member's value; may read the value, which is skipped otherwise
   */
  findMember(isWanted: (member: MemberPosition) => boolean): MemberPosition | undefined {
    const text = this.#text;
    if (!this.consume(openBrace)) return this.#fail();
    if (this.consume(closeBrace)) return undefined;
    do {
      const start = skipSpace(text, this.position);
      if (text.charCodeAt(start) !== quote || !this.#skipValue(start)) return this.#fail();
      const name = text.slice(start + 1, this.position - 1);
      if (!this.consume(colon)) return this.#fail();
      const valueStart = (this.position = skipSpace(text, this.position));
      const member = { name, start, valueStart };
      if (isWanted(member)) return member;
      // `isWanted` may have read the value already.
      if (this.position === valueStart && !this.#skipValue(valueStart)) return undefined;
    } while (this.consume(comma));
    return this.consume(closeBrace) ? undefined : this.#fail();
  }

  enterMember(name: string): MemberPosition | undefined {
    return this.findMember((member) => member.name === name);
  }

  #fail(): undefined {
    this.position = this.#text.length + 1;
  }

  #skipValue(start: number): boolean {
    const lastIndex = this.#findValueEnd(start);
    if (lastIndex === -1) {
      this.#fail();
      return false;
    }
    this.position = lastIndex + 1;
    return true;
  }

  /** Returns -1 if the value is truncated or takes too many steps. */
  #findValueEnd(start: number): number {
    const text = this.#text;
    // Index at which the budget runs out. Strings are charged separately, so it is recomputed after each.
    let limit = start + this.#remainingSteps;
    let end = Math.min(limit, text.length);
    let depth = 0;
    for (let index = start; index < end; index++) {
      const char = text.charCodeAt(index);
      if (char === quote) {
        this.#remainingSteps = limit - index;
        index = this.#findClosingQuote(index);
        if (index === -1) return -1;
        limit = index + this.#remainingSteps;
        end = Math.min(limit, text.length);
      } else if (isOpening(char)) depth++;
      else if (isClosing(char)) depth--;
      else if (depth === 0) index = findWordEnd(text, index);
      if (depth > 0) continue;
      // A closing bracket without an opening one; or the text or the budget has ended.
      if (depth < 0 || index >= end) return -1;
      this.#remainingSteps = limit - index;
      return index;
    }
    return -1;
  }

  #findClosingQuote(open: number): number {
    const text = this.#text;
    let index = open;
    do {
      index = text.indexOf('"', index + 1);
      this.#remainingSteps -= stepsPerSearch;
    } while (text.charCodeAt(index - 1) === backslash && this.#remainingSteps > 0 && isEscaped(text, index));
    return this.#remainingSteps > 0 ? index : -1;
  }
}

/** Returns the text's length if no word starts here, or if the word may continue past the end of the text. */
function findWordEnd(text: string, start: number): number {
  let end = start;
  while (isWordCharacter(text.charCodeAt(end))) end++;
  return end === start || end === text.length ? text.length : end - 1;
}

function isOpening(char: number): boolean {
  return (char | 0x20) === openBrace; // `{` and `[` differ in one bit
}

function isClosing(char: number): boolean {
  return (char | 0x20) === closeBrace;
}

function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09;
}

function isWordCharacter(char: number): boolean {
  return char > 0x20 && char !== comma && char !== closeBracket && char !== closeBrace; // false for the NaN past the end
}

/** Visits the numbers of at least `minLength` characters, in order. With a `minLength` of 1, the `e` of `true` would count as a number. */
export function visitNumbers(text: string, minLength: number, visit: (start: number, end: number) => void): void {
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index);
    if (char === quote) index = findStringEnd(text, index);
    else if (isNumberCharacter(char)) {
      const start = index;
      while (isNumberCharacter(text.charCodeAt(index))) index++;
      if (index - start >= minLength) visit(start, index);
      index--;
    }
  }
}

export function isDigitOrDot(char: number): boolean {
  return (char >= 0x30 && char <= 0x39) || char === 0x2e;
}

function isNumberCharacter(char: number): boolean {
  return isDigitOrDot(char) || char === 0x2d || char === 0x2b || char === 0x65 || char === 0x45;
}
