/** Content types that servers use for anything, or omit. */
const vagueTypes = new Set(['', 'text/plain', 'application/octet-stream']);

const streamTypes = new Set(['text/event-stream', 'application/x-ndjson']);

const beginnings = ['data:', 'event:', 'id:', 'retry:', ':'];

const searchedBytes = 1024;

const brace = 0x7b;

/** True when the content type is that of an event stream. With any other the bytes decide: servers label streams as JSON, too. */
export function isEventStream(contentType: string): boolean {
  return streamTypes.has(mediaType(contentType));
}

/** True when the first bytes are those of an event stream; undefined while they are too few to decide. */
export function looksLikeEvents(bytes: Buffer): boolean | undefined {
  if (bytes[0] === brace) return false;
  const text = bytes
    .toString('utf8', 0, searchedBytes)
    .replace(/^\u{FEFF}/u, '')
    .trimStart();
  if (beginnings.some((beginning) => text.startsWith(beginning))) return true;
  const isTooShort = bytes.length < searchedBytes && beginnings.some((beginning) => beginning.startsWith(text));
  return isTooShort ? undefined : false;
}

/** The content type of a whole answer towards the client. A vague one was read as JSON. */
export function jsonType(contentType: string): string {
  return vagueTypes.has(mediaType(contentType)) ? 'application/json' : contentType;
}

/** Lower case, without parameters (RFC 9110 §8.3.1). */
function mediaType(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}
