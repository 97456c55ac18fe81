/** Content types that do not identify the body, or are missing. */
const vagueTypes = new Set(['', 'text/plain', 'application/octet-stream']);

const streamTypes = new Set(['text/event-stream', 'application/x-ndjson']);

const eventPrefixes = ['data:', 'event:', 'id:', 'retry:', ':'];

const searchedBytes = 1024;

const brace = 0x7b;

/** Returns true if the content type means an event stream. Otherwise the bytes decide, because some servers label streams as JSON. */
export function isEventStream(contentType: string): boolean {
  return streamTypes.has(mediaType(contentType));
}

/** Returns true if the bytes start an event stream; undefined while there are too few to decide. */
export function looksLikeEvents(bytes: Buffer): boolean | undefined {
  if (bytes[0] === brace) return false;
  const text = bytes
    .toString('utf8', 0, searchedBytes)
    .replace(/^\u{FEFF}/u, '')
    .trimStart();
  if (eventPrefixes.some((beginning) => text.startsWith(beginning))) return true;
  const isTooShort = bytes.length < searchedBytes && eventPrefixes.some((beginning) => beginning.startsWith(text));
  return isTooShort ? undefined : false;
}

/** Returns the content type of a whole answer as sent to the client. Bodies with a vague type were read as JSON. */
export function jsonType(contentType: string): string {
  return vagueTypes.has(mediaType(contentType)) ? 'application/json' : contentType;
}

/** Lower case, without parameters (RFC 9110 §8.3.1). */
function mediaType(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}
