import { hash, timingSafeEqual } from 'node:crypto';

/** Compares secrets or signatures in constant time. Compares digests, because `timingSafeEqual` requires equal lengths. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));
}
