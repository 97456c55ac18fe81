import { JsonCursor } from '#core/platform/json-scan.ts';

const [comma, openArray] = [0x2c, 0x5b];

const windowBytes = { first: 8_192, factor: 8 };

/**
 * Finds an element of an array that is a member of a JSON object. Reads little beyond the element.
 *
 * @param bytes the start of a valid JSON text
 * @returns the element as JSON text; undefined if it is missing or cut off
 */
export function findRawElement(bytes: Buffer, member: string, index: number): string | undefined {
  for (let end = windowBytes.first; ; end *= windowBytes.factor) {
    const element = readElement(new JsonCursor(bytes.toString('latin1', 0, end)), member, index);
    if (element !== undefined) return Buffer.from(element, 'latin1').toString();
    if (end >= bytes.length) return undefined;
  }
}

function readElement(cursor: JsonCursor, member: string, index: number): string | undefined {
  if (cursor.enterMember(member) === undefined || !cursor.consume(openArray)) return undefined;
  for (let skipped = 0; skipped < index; skipped++) {
    if (cursor.readValue() === undefined || !cursor.consume(comma)) return undefined;
  }
  return cursor.readValue();
}
