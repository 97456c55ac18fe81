/** Removes NUL characters: clients may send them, but PostgreSQL rejects them. */
export function removeNul(text: string): string {
  return text.replaceAll('\0', '');
}
