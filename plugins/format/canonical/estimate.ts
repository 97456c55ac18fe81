/** Bytes of text that make a token, about, over the languages and tokenizers in use. */
const bytesPerToken = 4;

/** A cheap guess, where the upstream has not counted and the answer must not wait for a tokenizer. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}
