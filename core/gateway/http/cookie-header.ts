/** A cookie as RFC 6265 §4.1.1 has it, quoted or not. */
const cookie =
  /^[!#$%&'*+.^`|~\w-]+=(?:[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*|"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")$/;

/**
 * The cookies that hapi can parse. It drops all of them for one that is malformed, such as JSON that another program on this
 * host has set, and the reader would be signed out for as long as that one lives.
 */
export function wellFormedCookies(header: string): string {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => cookie.test(pair) && !pair.startsWith('__proto__=')).join('; ');
}
