import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import type { SignInProfile } from '#core/business/accounts/identities.ts';
import { linkIdentity } from '#core/business/accounts/identity-links.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { signIn } from '#core/web/sessions/sign-in.ts';
import { completeSignIn } from '../admit.ts';
import { readLinkIntent } from '../link-intent.ts';
import { homePath, chooseNextPath } from '../next-path.ts';
import { type ProviderProfile, toSignInProfile } from './profile.ts';
import { redirectWithError } from './step.ts';

const logIntervalMs = 10_000; // readers can cause any number of failures

interface BellCredentials {
  readonly profile?: ProviderProfile;
  readonly query?: Readonly<Record<string, string>>;
}

export async function finishSignIn(request: Request, h: ResponseToolkit, provider: string): Promise<ResponseObject> {
  const host = request.server.host();
  const { profile, query = {} } = (request.auth.credentials ?? {}) as BellCredentials;
  const next = chooseNextPath(query['next']);
  const { link = '' } = query;
  const person = request.auth.isAuthenticated ? readPerson(provider, profile, request) : undefined;
  if (person === undefined) {
    logFailure(host, provider, request.auth.error, request.info.id);
    return redirectWithError(h, hasStaleCookie(request.auth.error) ? 'expired' : 'failed', next, link !== '');
  }
  if (link !== '') return finishLink(request, h, person, link);
  const outcome = await completeSignIn(host, person, (...session) => signIn(request, h, ...session), next);
  if (outcome.refused !== undefined) return redirectWithError(h, outcome.refused, next, false);
  return redirect(h, outcome.path);
}

async function finishLink(
  request: Request,
  h: ResponseToolkit,
  person: SignInProfile,
  token: string,
): Promise<ResponseObject> {
  const host = request.server.host();
  const accountId = await readLinkIntent(request, person.provider, token);
  if (accountId === undefined) return redirectWithError(h, 'expired', homePath, true);
  const result = await linkIdentity(host, accountId, person);
  return redirect(h, `/account/sign-ins?${result === 'linked' ? 'linked' : 'error=of_other_account'}`);
}

function readPerson(
  provider: string,
  profile: ProviderProfile | undefined,
  request: Request,
): SignInProfile | undefined {
  if (profile === undefined) return undefined;
  try {
    return toSignInProfile(provider, profile);
  } catch (error) {
    request.server.host().log.error(`the sign-in with ${provider} failed, request ${request.info.id}`, error);
    return undefined;
  }
}

/** True if bell complains about the cookie of a different sign-in, from a second tab or a forged redirect. */
function hasStaleCookie(error: Error | null | undefined): boolean {
  return error?.message.startsWith('Incorrect ') === true;
}

/** Logs only parts of the error, because it may contain the provider's response with tokens. */
function logFailure(
  host: Host,
  provider: string,
  error: (Error & { data?: unknown }) | null | undefined,
  request: string,
): void {
  const throttle = host.keep(`sign-in/failures/${provider}`, () => new Throttle(logIntervalMs));
  if (!throttle.tryPass()) return;
  const reason = extractReason(error?.data);
  const text = `${error?.message ?? 'no profile'}${reason === '' ? '' : `: ${reason}`}`;
  const printed = text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 300);
  host.log.warn(`the sign-in with ${provider} failed: ${printed}, request ${request}`);
}

/** An error code such as `invalid_client` points to a mistake in gateway.yaml. */
function extractReason(data: unknown): string {
  if (data instanceof Error)
    return extractReason((data as { data?: { payload?: unknown } }).data?.payload) || data.message;
  if (!Buffer.isBuffer(data)) return '';
  return /"?error"?\s*[:=]\s*"?([a-z_]{1,60})/.exec(data.toString('latin1'))?.[1] ?? '';
}

function redirect(h: ResponseToolkit, path: string): ResponseObject {
  return h.response().code(303).location(path).header('cache-control', 'no-store');
}
