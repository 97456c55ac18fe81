/**
 * Finds positions in JSON texts without parsing them. Texts are read once; strings, which make up most of prompts and replies, are skipped
 * with `indexOf`.
 */

/** Character code of the quotation mark. */
export const quote = 0x22;

/** Returns the index of the quote that closes the string opened at `start`; the text's length if the string is not closed. */
export function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(index - 1 - backslashes) === 0x5c) backslashes++;
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
  for (let char = text.charCodeAt(index); char === 0x20 || (char >= 0x09 && char <= 0x0d);)
    char = text.charCodeAt(++index);
  return index;
}

/** Receives the indexes of a member's opening and closing name quotes, and of its value. Returns true to stop. */
type MemberVisitor = (nameStart: number, nameEnd: number, valueStart: number) => boolean;

/**
 * Visits the members of the outermost object in a text, in order, until `visit` returns true.
 *
 * @param start index of the object
 * @returns true if `visit` returned true
 */
export function visitMembers(text: string, visit: MemberVisitor, start = 0): boolean {
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    const char = text.charCodeAt(index);
    if (char === quote) {
      const end = findStringEnd(text, index);
      if (depth === 1) {
        const colon = skipSpace(text, end + 1);
        if (text.charCodeAt(colon) === 0x3a && visit(index, end, skipSpace(text, colon + 1))) return true;
      }
      index = end;
    } else if (char === 0x7b || char === 0x5b) depth++;
    else if ((char === 0x7d || char === 0x5d) && --depth === 0) return false;
  }
  return false;
}

/** Indexes of a member in a text. */
export interface MemberPosition {
  readonly nameStart: number; // opening quote of the name
  readonly start: number; // start of the value
  readonly end: number; // end of a string or null; the start of any other value
}

/**
 * Finds the first member of this name in the object at `start`; undefined without such a member, or if there is no object.
 *
 * @param name must not contain characters that JSON escapes
 */
export function findMember(text: string, name: string, start = 0): MemberPosition | undefined {
  const object = skipSpace(text, start);
  if (text.charCodeAt(object) !== 0x7b) return undefined;
  let position: MemberPosition | undefined;
  const visit: MemberVisitor = (nameStart, nameEnd, valueStart) => {
    if (nameEnd - nameStart - 1 !== name.length || !text.startsWith(name, nameStart + 1)) return false;
    position = { nameStart, start: valueStart, end: findValueEnd(text, valueStart) };
    return true;
  };
  visitMembers(text, visit, object);
  return position;
}

function findValueEnd(text: string, start: number): number {
  if (text.charCodeAt(start) === quote) return findStringEnd(text, start) + 1;
  return text.startsWith('null', start) ? start + 'null'.length : start;
}

/**
 * Visits the numbers of at least `minLength` characters, in order. Words such as `true` also contain number characters, but too few in a
 * row.
 */
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

/** Returns true for the character code of a digit or dot. */
export function isDigitOrDot(char: number): boolean {
  return (char >= 0x30 && char <= 0x39) || char === 0x2e;
}

function isNumberCharacter(char: number): boolean {
  return isDigitOrDot(char) || char === 0x2d || char === 0x2b || char === 0x65 || char === 0x45;
}
