import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/*
 * An API key is `<prefix>-`, 43 random base62 digits (256 bits), and the CRC-32 of the preceding characters as 6 base62 digits. The
 * checksum detects typos without a lookup and lets secret scanners recognize keys
 * (https://github.blog/engineering/behind-githubs-new-authentication-token-formats/).
 *
 * Old keys have an underscore instead of the hyphen. They stay valid: `isApiKey` accepts both separators, and the digest is computed from
 * the key as issued.
 */

const base62Digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 43; // 62^43 is a little more than 2^256
const checksumLength = 6; // 62^6 > 2^32

/** Generates a key. The caller must show it; only its digest is stored. */
export function generateApiKey(prefix: string): string {
  const secret = Array.from({ length: secretLength }, () => base62Digits[randomInt(base62Digits.length)]).join('');
  const body = `${prefix}-${secret}`;
  return body + computeChecksum(body);
}

/** Returns true if the text has the prefix, the length and the checksum of a key. Does not check that the secret is base62. */
export function isApiKey(text: string, prefix: string): boolean {
  if (text.length !== prefix.length + 1 + secretLength + checksumLength) return false;
  if (!text.startsWith(`${prefix}-`) && !text.startsWith(`${prefix}_`)) return false;
  return computeChecksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** Returns the SHA-256 of the key in hexadecimal, the only form that is stored. A salt adds nothing to 256 random bits. */
export function digestApiKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** Returns the first and last four characters: `dp-AbCd…wxyz`. Safe to show, because more than 200 of the 256 bits stay secret. */
export function maskApiKey(key: string, prefix: string): string {
  const start = prefix.length + 1;
  return `${key.slice(0, start + 4)}…${key.slice(-4)}`;
}

function computeChecksum(body: string): string {
  let value = crc32(body);
  let text = '';
  for (let index = 0; index < checksumLength; index++) {
    text = base62Digits.charAt(value % base62Digits.length) + text;
    value = Math.floor(value / base62Digits.length);
  }
  return text;
}
