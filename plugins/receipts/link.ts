import type { Host } from '#core/gateway/host/host.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { isSigned, sign } from '#core/platform/database/secret.ts';

export const signedPath = '/receipt';

const secretName = 'receipt-link';
const lifetimeMs = 30 * 86_400_000;

/**
 * Returns the URL in a mail that opens one receipt without signing in, for 30 days. It ends in the receipt's id, the expiry time (epoch
 * seconds) and the HMAC-SHA-256 of both.
 */
export async function createSignedUrl(
  { database, service, now }: Pick<Host, 'database' | 'service' | 'now'>,
  receiptId: string,
): Promise<string> {
  const subject = `${receiptId}.${Math.floor((now() + lifetimeMs) / 1000)}`;
  return `${service.baseUrl}${signedPath}/${subject}.${await sign(database, secretName, subject)}`;
}

/** @returns the receipt's id, or undefined if the token is invalid or has expired */
export async function verifyToken(database: Queries, token: string, now: number): Promise<string | undefined> {
  const [id = '', until = '', signature = ''] = token.split('.');
  if (!uuid.test(id) || !/^\d{1,12}$/.test(until) || Number(until) * 1000 <= now) return undefined;
  return (await isSigned(database, secretName, `${id}.${until}`, signature)) ? id : undefined;
}
