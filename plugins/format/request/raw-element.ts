import { RawJsonReader } from './raw-json-reader.ts';

const [comma, colon, openArray, openObject] = [0x2c, 0x3a, 0x5b, 0x7b];

/**
 * Finds an element of an array that is a member of a JSON object. Reads no further than the element.
 *
 * @param bytes start of a valid JSON text
 * @returns JSON text of the element; undefined if it is missing or truncated
 */
export function findRawElement(bytes: Buffer, member: string, index: number): string | undefined {
  const reader = new RawJsonReader(bytes);
  if (!reader.consume(openObject)) return undefined;
  do {
    const name = reader.readValue();
    if (name === undefined || !reader.consume(colon)) return undefined;
    if (name.toString() === `"${member}"`) return readElement(reader, index);
    if (reader.readValue() === undefined) return undefined;
  } while (reader.consume(comma));
  return undefined;
}

function readElement(reader: RawJsonReader, index: number): string | undefined {
  if (!reader.consume(openArray)) return undefined;
  for (let skipped = 0; skipped < index; skipped++) {
    if (reader.readValue() === undefined || !reader.consume(comma)) return undefined;
  }
  return reader.readValue()?.toString();
}
