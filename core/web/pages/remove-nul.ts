/** Removes NUL characters, which clients may send and PostgreSQL rejects. */
export function removeNul(text: string): string {
  return text.replaceAll('\0', '');
}
