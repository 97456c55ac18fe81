/**
 * Finds positions in JSON texts without parsing them. Texts are read once; strings, which make up most prompts and answers, are skipped at
 * the speed of a search for the closing quote.
 */

export const quote = 0x22;

/** Returns the index of the quote that closes the string opened at `start`; the text's length if it is not closed. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(index - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
}

/** Decodes a JSON string without its quotes; a malformed one is returned unchanged. */
export function unescaped(literal: string): string {
  if (!literal.includes('\\')) return literal;
  try {
    return JSON.parse(`"${literal}"`) as string;
  } catch {
    return literal;
  }
}

/** Returns the index of the first character from `from` on that is not white space. */
export function skipSpace(text: string, from: number): number {
  let index = from;
  for (let char = text.charCodeAt(index); char === 0x20 || (char >= 0x09 && char <= 0x0d);)
    char = text.charCodeAt(++index);
  return index;
}

/** Receives the positions of both quotes of a member's name, and of the start of its value. */
type Visit = (nameBegin: number, nameEnd: number, valueBegin: number) => boolean;

/**
 * Visits the members of the outermost object in a text, in order, until `visit` returns true.
 *
 * @param from start of the object
 * @returns true if a visit returned true
 */
export function someMember(text: string, visit: Visit, from = 0): boolean {
  let depth = 0;
  for (let index = from; index < text.length; index++) {
    const char = text.charCodeAt(index);
    if (char === quote) {
      const end = endOfString(text, index);
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

export interface MemberSpan {
  readonly nameBegin: number; // opening quote of the name
  readonly begin: number; // start of the value
  readonly end: number; // end of a string or null; the start of any other value
}

/**
 * Finds the first member of this name in the object at `from`; undefined if there is none, or no object.
 *
 * @param name without characters that JSON escapes
 */
export function findMember(text: string, name: string, from = 0): MemberSpan | undefined {
  const object = skipSpace(text, from);
  if (text.charCodeAt(object) !== 0x7b) return undefined;
  let found: MemberSpan | undefined;
  const visit: Visit = (nameBegin, nameEnd, begin) => {
    if (nameEnd - nameBegin - 1 !== name.length || !text.startsWith(name, nameBegin + 1)) return false;
    found = { nameBegin, begin, end: endOfWord(text, begin) };
    return true;
  };
  someMember(text, visit, object);
  return found;
}

function endOfWord(text: string, begin: number): number {
  if (text.charCodeAt(begin) === quote) return endOfString(text, begin) + 1;
  return text.startsWith('null', begin) ? begin + 'null'.length : begin;
}

/**
 * Visits the numbers of at least `minLength` characters, in order, until `visit` returns true. Words such as `true` contain characters of
 * numbers, but too few in a row.
 */
export function someNumber(text: string, minLength: number, visit: (begin: number, end: number) => boolean): boolean {
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index);
    if (char === quote) index = endOfString(text, index);
    else if (isInNumber(char)) {
      const begin = index;
      while (isInNumber(text.charCodeAt(index))) index++;
      if (index - begin >= minLength && visit(begin, index)) return true;
      index--;
    }
  }
  return false;
}

export function isDigitOrDot(char: number): boolean {
  return (char >= 0x30 && char <= 0x39) || char === 0x2e;
}

function isInNumber(char: number): boolean {
  return isDigitOrDot(char) || char === 0x2d || char === 0x2b || char === 0x65 || char === 0x45;
}
