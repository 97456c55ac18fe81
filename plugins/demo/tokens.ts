import { isJsonObject, type JsonValue } from '#core/platform/json.ts';

/** Splits a text into tokens the way models do: words with the space before them, long words in parts. */
export function splitIntoTokens(text: string): string[] {
  return text.match(/\s*\S{1,12}|\s+/gu) ?? [];
}

const charactersPerToken = 4;
/** A string of this length without spaces is taken for an encoded file and costs as much as an image. */
const encodedFile = { length: 2_000, tokens: 256 };

/** Estimates the tokens of any part of a request by the length of its strings. */
export function countTokens(value: JsonValue | undefined): number {
  if (typeof value === 'string') return countText(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + countTokens(entry), 0);
  if (isJsonObject(value)) return Object.values(value).reduce<number>((sum, entry) => sum + countTokens(entry), 1);
  return value === undefined || value === null ? 0 : 1;
}

function countText(text: string): number {
  if (text.length > encodedFile.length && !/\s/.test(text)) return encodedFile.tokens;
  return Math.ceil(text.length / charactersPerToken);
}
