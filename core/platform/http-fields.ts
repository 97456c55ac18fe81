/** Matches the name of a header (RFC 9110 §5.6.2), as Node.js does. */
export const headerNamePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Matches one line of visible Latin-1 characters, spaces and tabs (RFC 9110 §5.5). */
export const headerValuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers of the connection and of message framing, which the gateway sets itself. Other values would break the framing (§7.6.1). */
export const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
]);
