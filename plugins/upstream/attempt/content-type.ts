const ambiguousTypes = new Set(['', 'text/plain', 'application/octet-stream']); // '' if there is no header

const streamTypes = new Set(['text/event-stream', 'application/x-ndjson']);

const eventPrefixes = ['data:', 'event:', 'id:', 'retry:', ':'];

const maxInspectedBytes = 1024;

const brace = 0x7b;

/**
 * Returns true for the content type of an event stream. For other types the caller looks at the bytes, because some servers label streams
 * as JSON.
 */
export function isEventStream(contentType: string): boolean {
  return streamTypes.has(parseMediaType(contentType));
}

/** Returns true if the bytes start an event stream; undefined if more bytes are needed to decide. */
export function looksLikeEvents(bytes: Buffer): boolean | undefined {
  if (bytes[0] === brace) return false;
  const text = bytes
    .toString('utf8', 0, maxInspectedBytes)
    .replace(/^\u{FEFF}/u, '')
    .trimStart();
  if (eventPrefixes.some((prefix) => text.startsWith(prefix))) return true;
  const needsMoreBytes = bytes.length < maxInspectedBytes && eventPrefixes.some((prefix) => prefix.startsWith(text));
  return needsMoreBytes ? undefined : false;
}

/** A body with an ambiguous type has been parsed as JSON. */
export function toClientContentType(contentType: string): string {
  return ambiguousTypes.has(parseMediaType(contentType)) ? 'application/json' : contentType;
}

function parseMediaType(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase(); // RFC 9110 §8.3.1
}
