/** Returns a content type in lower case without its parameters (RFC 9110 §8.3.1). */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}
