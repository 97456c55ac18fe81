/** Returns text as PostgreSQL takes it: without NUL, which clients may send. */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', '');
}
