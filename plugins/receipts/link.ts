import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Host } from '#core/gateway/host/host.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { readSecret } from '#core/platform/database/secret.ts';

export const signedPath = '/receipt';

const secretName = 'receipt-link';
const lifetimeMs = 30 * 86_400_000;

/**
 * Returns the URL in a mail that opens one receipt without signing in, for 30 days. It ends in the receipt's id and the expiry time (epoch
 * seconds), with the HMAC-SHA-256 of both.
 */
export async function createSignedUrl(
  { database, service, now }: Pick<Host, 'database' | 'service' | 'now'>,
  receiptId: string,
): Promise<string> {
  const subject = `${receiptId}.${Math.floor((now() + lifetimeMs) / 1000)}`;
  return `${service.baseUrl}${signedPath}/${subject}.${await computeSignature(database, subject)}`;
}

/**
 * Verifies the token of a receipt link.
 *
 * @returns the receipt's id; undefined for an invalid or expired token
 */
export async function verifyToken(database: Queries, token: string, now: number): Promise<string | undefined> {
  const [id = '', until = '', signature = ''] = token.split('.');
  if (!uuid.test(id) || !/^\d{1,12}$/.test(until) || Number(until) * 1000 <= now) return undefined;
  const [actual, expected] = [Buffer.from(signature), Buffer.from(await computeSignature(database, `${id}.${until}`))];
  return actual.length === expected.length && timingSafeEqual(actual, expected) ? id : undefined;
}

async function computeSignature(database: Queries, subject: string): Promise<string> {
  return createHmac('sha256', await readSecret(database, secretName))
    .update(subject)
    .digest('base64url');
}
