import type { Request, ResponseToolkit, Server } from '@hapi/hapi';
import type { IdentityKey } from '#core/business/accounts/identities.ts';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { logFailure } from '#core/platform/errors/connection-error.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { nextPageTurn } from '#core/platform/timing/turn.ts';
import { type Cookies, cookiesOf, isSessionToken } from '../pages/cookies.ts';
import { PageError } from '../pages/page-error.ts';
import { chooseLanguage } from '../texts/texts.ts';
import { requireSameOrigin } from './form-token.ts';
import { type OpenSession, Sessions } from './sessions.ts';

/** Visitors without a session are redirected to this path if a plugin has a page there; `next` contains the original path. */
export const signInPath = '/sign-in';

/** Path of the sign-out form. If a plugin provides it, the layout shows a button for it. */
export const signOutPath = '/sign-out';

const safeMethods = new Set(['get', 'head', 'options']); // spelled as in hapi

/** A session, and the roles of its account. */
export interface SessionWithRoles extends OpenSession {
  readonly isOperator: boolean;
}

export function sessionsOf(host: Host): Sessions {
  return host.keep('sessions', () => new Sessions(host.database));
}

/**
 * Adds the hapi strategy `session`. A route with `auth: 'session'` requires a signed-in account or, with the scope `operator`, an account
 * listed under `operators`. In the mode `try`, a request without a session is served as a visitor's, and so is any request while the
 * database does not respond. Requests with unsafe methods must come from this origin.
 */
export function addSessionStrategy(server: Server, host: () => Host): void {
  server.auth.scheme('session', () => ({
    async authenticate(request, h) {
      const { token } = cookiesOf(request, host());
      if (isSessionToken(token) && !safeMethods.has(request.method)) requireSameOrigin(request, host());
      const openSession = isSessionToken(token) ? await readSession(host(), token) : undefined;
      // One query looks up many sessions at once, so without this their requests would all run in the same turn.
      await nextPageTurn();
      if (openSession === undefined) return h.unauthenticated(createSignedOutError());
      const isOperator = isOperatorAddress(host(), openSession.account.email);
      const session: SessionWithRoles = { ...openSession, isOperator };
      return h.authenticated({
        credentials: { session, scope: isOperator ? ['account', 'operator'] : ['account'] } as object,
      });
    },
  }));
  server.auth.strategy('session', 'session');
}

async function readSession(host: Host, token: string): Promise<OpenSession | undefined> {
  try {
    return await sessionsOf(host).read(token);
  } catch (error) {
    logUnavailable(host, 'sessions cannot be read; public pages are shown as if signed out', error);
    throw new PageError(503, 'error.503.text', { cause: error });
  }
}

/** Logs at most one line a minute, because hundreds of pages fail while the database does not respond. */
export function logUnavailable({ log, keep }: Pick<Host, 'log' | 'keep'>, text: string, error: unknown): void {
  if (keep('pages-unavailable', () => new Throttle(60_000)).tryPass()) logFailure(log, text, error);
}

function createSignedOutError(): PageError {
  return new PageError(401, 'error.401.text');
}

/** Returns a request's session; undefined for visitors. */
export function sessionOf({ auth }: Request): SessionWithRoles | undefined {
  return auth.isAuthenticated ? (auth.credentials as { session?: SessionWithRoles }).session : undefined;
}

/**
 * Signs an account in, for hapi routes such as a sign-in provider's callback. Ends the browser's previous session.
 *
 * @throws AccountError `not_found` if the account no longer has the identity
 */
export async function signIn(
  request: Request,
  h: ResponseToolkit,
  accountId: string,
  identity?: IdentityKey,
): Promise<void> {
  const host = request.server.host();
  await startSession(request, h, cookiesOf(request, host), sessionsOf(host), accountId, identity);
}

export async function startSession(
  request: Request,
  h: ResponseToolkit,
  cookies: Cookies,
  sessions: Sessions,
  accountId: string,
  identity: IdentityKey | undefined,
): Promise<void> {
  const { token: previous } = cookies;
  const { headers } = request.raw.req;
  const language = chooseLanguage(cookies.get('language'), headers['accept-language']);
  const { token, expiresAt } = await sessions.create(accountId, headers['user-agent'], language, identity);
  if (isSessionToken(previous)) await sessions.revokeToken(previous);
  cookies.setToken(h, token, expiresAt);
}

export async function endSession(h: ResponseToolkit, cookies: Cookies, sessions: Sessions): Promise<void> {
  const { token } = cookies;
  if (isSessionToken(token)) await sessions.revokeToken(token);
  cookies.clearToken(h);
}

/** Deletes rows only to save space: a session that has ended is refused even if its row exists. */
export const removeEndedSessions: JobDefinition = {
  name: 'remove-ended-sessions',
  description: 'Deletes sessions that have expired or have not been used for weeks.',
  schedule: { pattern: '17 3 * * *' },
  async run(_data, host) {
    const count = await sessionsOf(host).removeEnded();
    if (count > 0) host.log.info(`deleted ${count} expired sessions`);
  },
};
