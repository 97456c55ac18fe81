import type { Request } from '@hapi/hapi';
import { cookiesOf } from '#core/web/pages/cookies.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { readFormToken } from '#core/web/sessions/form-token.ts';
import type { SessionWithRoles } from '#core/web/sessions/sign-in.ts';

const lifetimeSeconds = 10 * 60; // to return from the provider

export function createLinkTokenPurpose(provider: string): string {
  return `link ${provider}`;
}

/**
 * Returns the account to which a sign-in with this provider is to be added, at the owner's request in this session. The token is signed
 * with the session's secret, so other sites can neither create one nor use someone else's.
 */
export async function readLinkIntent(request: Request, provider: string, token: string): Promise<string | undefined> {
  const host = request.server.host();
  try {
    readFormToken(token, cookiesOf(request, host).token, createLinkTokenPurpose(provider), host.now(), lifetimeSeconds);
    const { credentials } = (await request.server.auth.test('session', request)) as {
      credentials: { session: SessionWithRoles };
    };
    return credentials.session.account.id;
  } catch (error) {
    if (error instanceof PageError && error.status < 500) return undefined;
    throw error;
  }
}
