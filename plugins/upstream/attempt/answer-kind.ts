/** Types that servers give to anything, or that stand for none at all. */
const vagueTypes = new Set(['', 'text/plain', 'application/octet-stream']);

/** What a line of an event stream begins with. */
const beginnings = ['data:', 'event:', 'id:', 'retry:', ':'];

/** Bytes in which the first line has to begin. */
const lookedAt = 1024;

/**
 * What an answer is by its content type: a stream of events, or something whole. Undefined where the type does not tell
 * and the bytes have to.
 */
export function isEventStream(contentType: string): boolean | undefined {
  const type = mediaType(contentType);
  return vagueTypes.has(type) ? undefined : type === 'text/event-stream';
}

/** What an answer is by its first bytes; undefined while they are too few to tell. */
export function looksLikeEvents(bytes: Buffer): boolean | undefined {
  const text = bytes
    .toString('utf8', 0, lookedAt)
    .replace(/^\u{FEFF}/u, '')
    .trimStart();
  if (beginnings.some((beginning) => text.startsWith(beginning))) return true;
  const isTooShort = bytes.length < lookedAt && beginnings.some((beginning) => beginning.startsWith(text));
  return isTooShort ? undefined : false;
}

/** The type that a whole answer is handed on with. Whatever it was called, it has been read as JSON. */
export function jsonType(contentType: string): string {
  return vagueTypes.has(mediaType(contentType)) ? 'application/json' : contentType;
}

/** Without parameters; types ignore case (RFC 9110 §8.3.1). */
function mediaType(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}
