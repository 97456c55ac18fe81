import { isJsonObject, type JsonValue } from '#core/json.ts';

/** Cuts a text into what a model would emit one by one: words with the space before them, long ones in parts. */
export function splitIntoTokens(text: string): string[] {
  return text.match(/\s*\S{1,12}|\s+/gu) ?? [];
}

const charactersInToken = 4;
/** Characters of a string without any space that can only be an encoded file, and what a picture costs. */
const encodedFile = { length: 2_000, tokens: 256 };

/** A plausible count for any part of a request: about a token for four characters of the strings in it. */
export function countTokens(value: JsonValue | undefined): number {
  if (typeof value === 'string') return countText(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + countTokens(entry), 0);
  if (isJsonObject(value)) return Object.values(value).reduce<number>((sum, entry) => sum + countTokens(entry), 1);
  return value === undefined || value === null ? 0 : 1;
}

function countText(text: string): number {
  if (text.length > encodedFile.length && !/\s/.test(text)) return encodedFile.tokens;
  return Math.ceil(text.length / charactersInToken);
}
