import type { Host } from '#core/gateway/host/host.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { isSigned, sign } from '#core/platform/database/secret.ts';

export const unsubscribePath = '/unsubscribe';

const secretName = 'unsubscribe';

/**
 * Returns the URL of the page where an account's owner unsubscribes without signing in. It ends with the account's id and its HMAC-SHA-256,
 * so accounts cannot unsubscribe each other; anyone who has the mail can, as RFC 8058 requires.
 */
export async function buildUnsubscribeUrl(
  { database, service }: Pick<Host, 'database' | 'service'>,
  accountId: string,
): Promise<string> {
  return `${service.baseUrl}${unsubscribePath}/${accountId}.${await sign(database, secretName, accountId)}`;
}

/** @returns the account's id; undefined for an invalid link */
export async function verifyToken(database: Queries, token: string): Promise<string | undefined> {
  const [id = '', signature = ''] = token.split('.');
  if (!uuid.test(id)) return undefined;
  const accountId = id.toLowerCase();
  return (await isSigned(database, secretName, accountId, signature)) ? accountId : undefined;
}

/** Optional mails are those not about orders, sign-ins or keys. */
export async function setSubscribed(database: Queries, accountId: string, subscribes: boolean): Promise<void> {
  await database.query(
    `update account set unsubscribed_at = case when ?::boolean then null else coalesce(unsubscribed_at, clock_timestamp()) end
     where id = ?`,
    [subscribes, accountId],
  );
}

export async function isSubscribed(database: Queries, accountId: string): Promise<boolean> {
  const [row] = await database.query<{ subscribed: boolean }>(
    'select unsubscribed_at is null as subscribed from account where id = ?',
    [accountId],
  );
  return row?.subscribed ?? true;
}
