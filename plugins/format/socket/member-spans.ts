import { parseJson } from '#core/platform/json.ts';
import { RawJsonReader } from '../request/raw-json-reader.ts';

const [quote, backslash, comma, colon, openObject, closeObject] = [0x22, 0x5c, 0x2c, 0x3a, 0x7b, 0x7d];

/** Where a member of the outermost object stands. */
export interface RawMember {
  readonly name: string;
  readonly begin: number; // of its name
  readonly valueBegin: number;
  readonly end: number; // behind its value
}

/**
 * Finds the members of a JSON object without parsing them: their values are passed over, strings at the speed of a search. The
 * caller must still validate each value that it uses.
 *
 * @returns undefined for what is no object, ends early, or would take too long
 */
export function memberSpans(bytes: Buffer): readonly RawMember[] | undefined {
  const reader = new RawJsonReader(bytes);
  if (!reader.pass(openObject)) return undefined;
  const spans: RawMember[] = [];
  if (!reader.pass(closeObject)) {
    do {
      const span = readMember(reader);
      if (span === undefined) return undefined;
      spans.push(span);
    } while (reader.pass(comma));
    if (!reader.pass(closeObject)) return undefined;
  }
  return reader.isAtEnd() ? spans : undefined;
}

function readMember(reader: RawJsonReader): RawMember | undefined {
  const begin = reader.begin();
  const name = nameOf(reader.value());
  if (name === undefined || !reader.pass(colon)) return undefined;
  const valueBegin = reader.begin();
  return reader.value() && { name, begin, valueBegin, end: reader.at };
}

/** The name in a JSON string, which may be written with escapes. @returns undefined for none that is valid */
function nameOf(text: Buffer | undefined): string | undefined {
  if (text?.[0] !== quote) return undefined;
  if (!text.includes(backslash)) return text.toString('utf8', 1, text.length - 1);
  const name = parseJson(text.toString());
  return typeof name === 'string' ? name : undefined;
}
