import { endOfString } from '#core/json.ts';

/** Where a member of the outermost object stands: the quotes of its name, and where its value begins. */
type Visit = (nameBegin: number, nameEnd: number, valueBegin: number) => boolean;

/**
 * Visits the members of the object in a JSON text, in order, until `visit` returns true. Reads the text once; strings, of
 * which prompts mostly consist, are skipped at the speed of a search for their closing quote.
 *
 * @returns true when a visit has returned true
 */
export function someMember(text: string, visit: Visit): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index);
    if (char === 0x22) {
      const end = endOfString(text, index);
      if (depth === 1) {
        const colon = skipSpace(text, end + 1);
        if (text.charCodeAt(colon) === 0x3a && visit(index, end, skipSpace(text, colon + 1))) return true;
      }
      index = end;
    } else if (char === 0x7b || char === 0x5b) depth++;
    else if (char === 0x7d || char === 0x5d) depth--;
  }
  return false;
}

function skipSpace(text: string, from: number): number {
  let index = from;
  for (let char = text.charCodeAt(index); char === 0x20 || (char >= 0x09 && char <= 0x0d);)
    char = text.charCodeAt(++index);
  return index;
}
