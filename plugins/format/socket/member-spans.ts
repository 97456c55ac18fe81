import { parseJson } from '#core/platform/json.ts';
import { RawJsonReader } from '../request/raw-json-reader.ts';

const [quote, backslash, comma, colon, openObject, closeObject] = [0x22, 0x5c, 0x2c, 0x3a, 0x7b, 0x7d];

/** The position of a member of the outermost object. */
export interface RawMember {
  readonly name: string;
  readonly start: number; // start of the name
  readonly valueStart: number;
  readonly end: number; // position after the value
}

/**
 * Finds the members of a JSON object without parsing their values. The caller must still validate each value that it uses.
 *
 * @returns undefined if the bytes are not an object, end early, or would take too long
 */
export function findMembers(bytes: Buffer): readonly RawMember[] | undefined {
  const reader = new RawJsonReader(bytes);
  if (!reader.consume(openObject)) return undefined;
  const members: RawMember[] = [];
  if (!reader.consume(closeObject)) {
    do {
      const member = readMember(reader);
      if (member === undefined) return undefined;
      members.push(member);
    } while (reader.consume(comma));
    if (!reader.consume(closeObject)) return undefined;
  }
  return reader.isAtEnd() ? members : undefined;
}

function readMember(reader: RawJsonReader): RawMember | undefined {
  const start = reader.skipSpace();
  const name = readName(reader.readValue());
  if (name === undefined || !reader.consume(colon)) return undefined;
  const valueStart = reader.skipSpace();
  return reader.readValue() && { name, start, valueStart, end: reader.position };
}

/** Reads the name in a JSON string, which may contain escapes; undefined for an invalid string. */
function readName(text: Buffer | undefined): string | undefined {
  if (text?.[0] !== quote) return undefined;
  if (!text.includes(backslash)) return text.toString('utf8', 1, text.length - 1);
  const name = parseJson(text.toString());
  return typeof name === 'string' ? name : undefined;
}
