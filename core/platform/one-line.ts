/** Joins the lines of third-party text, such as a name, and replaces control characters with spaces. */
export function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}
