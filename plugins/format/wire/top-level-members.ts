import { endOfString } from '#core/platform/json.ts';

/** Where a member of the outermost object stands: the quotes of its name, and where its value begins. */
type Visit = (nameBegin: number, nameEnd: number, valueBegin: number) => boolean;

/**
 * Visits the members of the object in a JSON text, in order, until `visit` returns true. Reads the text once; strings, of
 * which prompts mostly consist, are skipped at the speed of a search for their closing quote.
 *
 * @param from where the object begins
 * @returns true when a visit has returned true
 */
export function someMember(text: string, visit: Visit, from = 0): boolean {
  let depth = 0;
  for (let index = from; index < text.length; index++) {
    const char = text.charCodeAt(index);
    if (char === 0x22) {
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

/** Where a member stands in a text. */
export interface MemberSpan {
  readonly nameBegin: number; // the quote before its name
  readonly begin: number; // its value
  readonly end: number; // behind a text or null; the begin of any other value
}

/**
 * The first member of this name in the object that begins at an index; undefined when there is none, or no object.
 *
 * @param name without characters that JSON escapes
 */
export function findMember(text: string, name: string, from = 0): MemberSpan | undefined {
  const object = skipSpace(text, from);
  if (text.charCodeAt(object) !== 0x7b) return undefined;
  let found: MemberSpan | undefined;
  someMember(
    text,
    (nameBegin, nameEnd, begin) => {
      if (nameEnd - nameBegin - 1 !== name.length || !text.startsWith(name, nameBegin + 1)) return false;
      found = { nameBegin, begin, end: endOfWord(text, begin) };
      return true;
    },
    object,
  );
  return found;
}

function endOfWord(text: string, begin: number): number {
  if (text.charCodeAt(begin) === 0x22) return endOfString(text, begin) + 1;
  return text.startsWith('null', begin) ? begin + 'null'.length : begin;
}

function skipSpace(text: string, from: number): number {
  let index = from;
  for (let char = text.charCodeAt(index); char === 0x20 || (char >= 0x09 && char <= 0x0d);)
    char = text.charCodeAt(++index);
  return index;
}
