import type { Request } from '@hapi/hapi';
import { cookiesOf } from '#core/web/pages/cookies.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { readFormToken } from '#core/web/sessions/form-token.ts';
import type { SessionWithRoles } from '#core/web/sessions/sign-in.ts';

/** Time for the reader to return from the provider. */
const lifetimeSeconds = 10 * 60;

/** Returns the purpose of the token for an intent. */
export function createLinkPurpose(provider: string): string {
  return `link ${provider}`;
}

/**
 * Finds the account whose owner requested, with a form of this session, to add a sign-in with this provider. The token is signed with the
 * session's secret, so other sites can neither create one nor use another person's.
 *
 * @returns undefined if this session has no such request, or it has expired
 */
export async function readLinkIntent(request: Request, provider: string, token: string): Promise<string | undefined> {
  const host = request.server.host();
  try {
    readFormToken(token, cookiesOf(request, host).token, createLinkPurpose(provider), host.now(), lifetimeSeconds);
    const { credentials } = (await request.server.auth.test('session', request)) as {
      credentials: { session: SessionWithRoles };
    };
    return credentials.session.account.id;
  } catch (error) {
    if (error instanceof PageError && error.status < 500) return undefined;
    throw error;
  }
}
