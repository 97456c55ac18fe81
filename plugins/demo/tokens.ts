import { isJsonObject, type JsonValue } from '#core/platform/json.ts';

/** Splits as models do: a word includes the space before it, and a long word becomes several tokens. */
export function splitIntoTokens(text: string): string[] {
  return text.match(/\s*\S{1,12}|\s+/gu) ?? [];
}

const charactersPerToken = 4;
const encodedFile = { length: 2_000, tokens: 256 }; // a string this long without spaces counts as an encoded file, and costs as much as an image

export function estimateTokens(value: JsonValue | undefined): number {
  if (typeof value === 'string') return countText(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + estimateTokens(entry), 0);
  if (isJsonObject(value)) return Object.values(value).reduce<number>((sum, entry) => sum + estimateTokens(entry), 1);
  return value === undefined || value === null ? 0 : 1;
}

function countText(text: string): number {
  if (text.length > encodedFile.length && !/\s/.test(text)) return encodedFile.tokens;
  return Math.ceil(text.length / charactersPerToken);
}
