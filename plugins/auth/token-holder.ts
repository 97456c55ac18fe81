import { getAccessTokens } from '#core/business/accounts/access-token.ts';
import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import type { AccountDirectory } from '#core/business/accounts/directory.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { sessionsOf } from '#core/web/sessions/sign-in.ts';

const timeoutMs = 2_000;

type FindTokenHolder = (token: string) => Promise<AccountRecord | undefined>;

/**
 * Reads the session for each request, because a session may end at any moment and pages make few calls. A token with a wrong signature
 * causes no query.
 *
 * @param maxAge maximum age of a cached account, seconds
 * @throws GatewayError `unavailable` if the database does not respond
 */
export function createTokenHolderFinder(
  host: Host,
  directory: Pick<AccountDirectory, 'findById'>,
  maxAge: number,
): FindTokenHolder {
  const tokens = getAccessTokens(host);
  const sessions = sessionsOf(host);
  const find: FindTokenHolder = async (token) => {
    const claims = await tokens.read(host.service.prefix, token);
    if (claims === undefined) return undefined;
    const account = await directory.findById(claims.accountId, maxAge);
    if (account === undefined || account.blockedAt !== undefined) return account;
    return (await sessions.isOpen(claims.accountId, claims.sessionId)) ? account : undefined;
  };
  return async (token) => {
    try {
      return await withDeadline(find(token), timeoutMs, `the database did not answer within ${timeoutMs} ms`);
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      throw new GatewayError('unavailable', 'Sessions cannot be verified at the moment. Try again in a few seconds.', {
        retryAfter: 2,
        cause: error,
      });
    }
  };
}
