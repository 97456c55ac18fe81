import { JsonCursor } from '#core/platform/json-scan.ts';
import { parseJson } from '#core/platform/json.ts';

/** Maximum number of steps for one text. A body of 32 MB with a million values takes fewer. */
export const maxSteps = 4_000_000;

/** Position of a member of the outermost object. */
export interface RawMember {
  readonly name: string;
  readonly start: number; // start of the name
  readonly valueStart: number;
  readonly end: number; // position after the value
}

/**
 * Finds the members of a JSON object without parsing their values. The caller must still validate each value that it uses.
 *
 * @param bytes the text with one character per byte
 * @returns undefined if the text is not an object, ends early, or would take too long
 */
export function findMembers(bytes: string): readonly RawMember[] | undefined {
  const cursor = new JsonCursor(bytes, 0, maxSteps);
  const members: RawMember[] = [];
  const invalidMember = cursor.findMember(({ name: literal, start, valueStart }) => {
    const name = literal.includes('\\') ? parseJson(`"${literal}"`) : literal;
    if (typeof name !== 'string' || cursor.readValue() === undefined) return true;
    members.push({ name, start, valueStart, end: cursor.position });
    return false;
  });
  return invalidMember === undefined && cursor.isAtEnd() ? members : undefined;
}
