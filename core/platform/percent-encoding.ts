/** Decodes percent-encoding. Returns text with an invalid sequence unchanged. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
