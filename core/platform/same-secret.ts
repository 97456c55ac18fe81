import { hash, timingSafeEqual } from 'node:crypto';

/** Compares secrets or signatures in constant time. Their digests are compared, because `timingSafeEqual` requires equal lengths. */
export function isSameSecret(received: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', received, 'buffer'), hash('sha256', expected, 'buffer'));
}
