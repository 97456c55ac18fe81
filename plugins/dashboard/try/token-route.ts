import type { Server, ServerRoute } from '@hapi/hapi';
import { accessTokenLifetime, accessTokens } from '#core/business/accounts/access-token.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { sessionOf } from '#core/web/sessions/sign-in.ts';
import { tryPath } from '../paths.ts';

/** `POST /dashboard/try/token`: a token for the page's script. The session must be the sender's, and the page of this origin. */
export function tokenRoute(server: Server): ServerRoute {
  return {
    method: 'POST',
    path: `${tryPath}/token`,
    options: { auth: 'session', payload: { maxBytes: 1024 } },
    async handler(request, h) {
      const session = sessionOf(request);
      if (session === undefined) throw new PageError(401, 'error.401.text');
      const { prefix } = server.host().service;
      const claims = { accountId: session.account.id, sessionId: session.id };
      const token = await accessTokens(server.host()).sign(prefix, claims);
      return h.response({ token, expires_in: accessTokenLifetime / 1_000 }).header('cache-control', 'no-store');
    },
  };
}
