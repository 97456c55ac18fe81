import { hash, timingSafeEqual } from 'node:crypto';

/** Compares a secret or signature in constant time. Digests, because `timingSafeEqual` requires equal lengths. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));
}
