import { join } from 'node:path';
import type { Server, ServerRoute } from '@hapi/hapi';
import { accessTokenLifetimeMs, getAccessTokens } from '#core/business/accounts/access-token.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { sessionOf } from '#core/web/sessions/sign-in.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { tryPath } from '../paths.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };
import { createTryPage } from './try-page.ts';

export function register(server: Server): void {
  const { gateway } = server;
  gateway.texts(defineTexts({ en, id }));
  gateway.assets({ name: 'write-code.js', path: join(import.meta.dirname, '..', 'code', 'write-code.mjs') });
  gateway.page(createTryPage(server));
  server.route(createTokenRoute(server));
}

function createTokenRoute(server: Server): ServerRoute {
  return {
    method: 'POST',
    path: `${tryPath}/token`,
    // Requires a session and a page of this origin.
    options: { auth: 'session', payload: { maxBytes: 1024 } },
    async handler(request, h) {
      const session = sessionOf(request);
      if (session === undefined) throw new PageError(401, 'error.401.text');
      const { prefix } = server.host().service;
      const claims = { accountId: session.account.id, sessionId: session.id };
      const token = await getAccessTokens(server.host()).sign(prefix, claims);
      return h.response({ token, expires_in: accessTokenLifetimeMs / 1_000 }).header('cache-control', 'no-store');
    },
  };
}
