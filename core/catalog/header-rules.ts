/** RFC 9110, 5.6.2: what a header's name may consist of. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110, 5.5: one line of visible characters of Latin-1, spaces and tabs. */
const line = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Those of one connection, which the HTTP client writes itself: with others it refuses the request or frames it wrongly. */
const framing = new Set(['connection', 'content-length', 'expect', 'keep-alive', 'te', 'transfer-encoding', 'upgrade']);

/** What is wrong with a header and what would be right, without its value; undefined when it can be sent. */
export function headerMistake(name: string, value: string): readonly [wrong: string, right: string] | undefined {
  if (!token.test(name)) return ['is no name of a header', 'write letters, digits and hyphens'];
  if (framing.has(name.toLowerCase())) return ['is written by the gateway itself', 'take it out'];
  if (line.test(value)) return undefined;
  return ['has a line break or a character that no header can carry', 'write plain letters on one line'];
}

/** The same for an API key. Keys have no spaces; one that has was pasted, or read from a file, with more than itself. */
export function keyMistake(key: string): readonly [wrong: string, right: string] | undefined {
  if (/^[\x21-\x7e]*$/.test(key)) return undefined;
  const wrong = /\s/.test(key) ? 'has a space or a line break' : 'has a character that no header can carry';
  return [wrong, 'write the key alone, as the vendor shows it'];
}
