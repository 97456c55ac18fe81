import { parseJson } from '#core/platform/json.ts';
import { RawJsonReader } from '../request/raw-json-reader.ts';

const [quote, backslash, comma, colon, openObject, closeObject] = [0x22, 0x5c, 0x2c, 0x3a, 0x7b, 0x7d];

/** The position of a member of the outermost object. */
export interface RawMember {
  readonly name: string;
  readonly begin: number; // start of the name
  readonly valueBegin: number;
  readonly end: number; // position after the value
}

/**
 * Finds the members of a JSON object without parsing them: it skips values, and strings at the speed of a search. The
 * caller must still validate each value that it uses.
 *
 * @returns undefined if the bytes are not an object, end early, or would take too long
 */
export function memberSpans(bytes: Buffer): readonly RawMember[] | undefined {
  const reader = new RawJsonReader(bytes);
  if (!reader.consume(openObject)) return undefined;
  const spans: RawMember[] = [];
  if (!reader.consume(closeObject)) {
    do {
      const span = readMember(reader);
      if (span === undefined) return undefined;
      spans.push(span);
    } while (reader.consume(comma));
    if (!reader.consume(closeObject)) return undefined;
  }
  return reader.isAtEnd() ? spans : undefined;
}

function readMember(reader: RawJsonReader): RawMember | undefined {
  const begin = reader.skipSpace();
  const name = nameOf(reader.readValue());
  if (name === undefined || !reader.consume(colon)) return undefined;
  const valueBegin = reader.skipSpace();
  return reader.readValue() && { name, begin, valueBegin, end: reader.position };
}

/** The name in a JSON string, which may contain escapes. @returns undefined for an invalid string */
function nameOf(text: Buffer | undefined): string | undefined {
  if (text?.[0] !== quote) return undefined;
  if (!text.includes(backslash)) return text.toString('utf8', 1, text.length - 1);
  const name = parseJson(text.toString());
  return typeof name === 'string' ? name : undefined;
}
