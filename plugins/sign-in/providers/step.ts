import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { clientConnection } from '#core/gateway/http/client-connection.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { passRateLimit } from '../admit.ts';
import { homePath, chooseNextPath } from '../next-path.ts';

type SignInFailure = 'cancelled' | 'expired' | 'failed' | 'too_many' | 'email_taken' | 'blocked'; // each has a text `sign_in.error.…`

interface BellCookie {
  readonly query?: Readonly<Record<string, string>>;
}

const maxValueLength = 1_000; // of `next` and `link`, which are stored in a cookie of at most 4 KB

type Query = Readonly<Record<string, string>>;

const codeNames = ['code', 'state', 'oauth_token', 'oauth_verifier'];

/**
 * Classifies a request to a provider's route before bell sees it: the start of a sign-in, or the reader's return with a code. Any other
 * return leads to the sign-in page; for some of them, bell would start another sign-in and loop.
 */
export async function checkStep(request: Request, h: ResponseToolkit, cookie: string): Promise<Lifecycle.ReturnValue> {
  const query = takeLastValues(request.query);
  if ('error' in query || 'denied' in query) {
    logRefusal(request, cookie, query);
    return abandonSignIn(request, h, cookie, classifyFailure(query));
  }
  if ('code' in query || 'oauth_token' in query) {
    // Without the cookie, the sign-in took too long or this URL was opened a second time.
    if (request.state[cookie] === undefined) return abandonSignIn(request, h, cookie, 'expired');
    return replaceQuery(request, h, pickParameters(query, codeNames));
  }
  if ('state' in query) return abandonSignIn(request, h, cookie, 'failed');
  const { address } = clientConnection(request, request.server.host());
  if (!(await passRateLimit(request.server.host(), address))) return abandonSignIn(request, h, cookie, 'too_many');
  return replaceQuery(request, h, pickParameters(query, ['next', 'link']));
}

/** bell reads the query, and stores the initial one in its cookie. */
function replaceQuery(request: Request, h: ResponseToolkit, query: Readonly<Record<string, string>>): symbol {
  Object.assign(request, { query } satisfies Partial<Request>);
  return h.continue;
}

const logIntervalMs = 10_000;
const maxReasonLength = 200;

/** Requires a sign-in cookie; otherwise anyone could write to the log. */
function logRefusal(request: Request, cookie: string, { error = '', error_description: text = '' }: Query): void {
  if (request.state[cookie] === undefined || error === '' || error === 'access_denied') return;
  const host = request.server.host();
  const provider = request.path.split('/').at(-1) ?? '';
  if (!host.keep(`sign-in/refusals/${provider}`, () => new Throttle(logIntervalMs)).tryPass()) return;
  const message = text === '' ? error : `${error}, ${text}`;
  const reason = message.replace(/[^ -~]+/g, '?').slice(0, maxReasonLength);
  host.log.warn(`${provider} rejected the sign-in: ${reason}, request ${request.info.id}`);
}

function classifyFailure({ error }: Query): SignInFailure {
  return error === undefined || error === 'access_denied' ? 'cancelled' : 'failed';
}

function readQueryFromCookie(request: Request, cookie: string): { readonly next: string; readonly link: string } {
  const { query = {} } = (request.state[cookie] ?? {}) as BellCookie;
  return { next: chooseNextPath(query['next']), link: query['link'] ?? '' };
}

function abandonSignIn(request: Request, h: ResponseToolkit, cookie: string, failure: SignInFailure): ResponseObject {
  const { next, link } = readQueryFromCookie(request, cookie);
  h.unstate(cookie);
  return redirectWithError(h, failure, next, link !== '').takeover();
}

export function redirectWithError(
  h: ResponseToolkit,
  failure: SignInFailure,
  next: string,
  isLink: boolean,
): ResponseObject {
  const page = isLink ? '/account/sign-ins' : '/sign-in';
  const query = new URLSearchParams({ error: failure, ...(next !== homePath && !isLink && { next }) });
  return h.response().code(303).location(`${page}?${query}`).header('cache-control', 'no-store');
}

/** bell expects each parameter only once. */
function takeLastValues(query: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(query).map(([name, value]) => [name, String([value].flat().at(-1) ?? '')] as const);
  return Object.fromEntries(entries.filter(([, value]) => value.length <= 4_000));
}

function pickParameters(query: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  const entries = names.flatMap((name) => {
    const value = query[name];
    const isLong = value !== undefined && (name === 'next' || name === 'link') && value.length > maxValueLength;
    return value === undefined || isLong ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}
