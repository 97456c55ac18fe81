import type { Credentials2, CustomProtocol1, CustomProtocol2, ProfileGetter } from '@hapi/bell';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { ConfiguredProvider, ProviderSettings } from '../section.ts';
import { fetchProfile, maxAnswer, providerTimeout } from './fetch-profile.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { google } from './google.ts';
import { type BellProfile, fromBell } from './profile.ts';

type Protocol = CustomProtocol1 | CustomProtocol2;

/** bell's constructors of providers, by name; bell's types do not have them. */
export type BellProviders = Readonly<Record<string, (config?: object) => Protocol>>;

/** Further providers that are known to support a code challenge (RFC 7636). */
const withCodeChallenge = new Set(['auth0', 'azure', 'cognito', 'okta']);

/** Timeout in ms of all calls to a provider during one callback. */
const profileTimeout = 2 * providerTimeout;

/** @throws Error when bell lacks something in `config` */
export function buildProvider({ name, settings }: ConfiguredProvider, known: BellProviders): Protocol {
  if (name === 'google') return google(settings);
  if (name === 'github') return github(settings);
  if (name === 'gitlab') return gitlab(settings);
  const make = known[name];
  if (make === undefined) throw new Error(`bell has no provider "${name}"`);
  return adopt(name, make(settings.config), settings);
}

/** Takes a provider of bell, with our deadlines and our reading of its profile. */
function adopt(name: string, base: Protocol, { endpoints = {}, trust_email: isTrusted }: ProviderSettings): Protocol {
  const profile: ProfileGetter<Credentials2> = async function profile(credentials, params, get, request) {
    const ask = base.protocol === 'oauth2' && !isPosted(base) ? getter(credentials.token, base.headers) : get;
    const work = base.profile.call(this, credentials as never, params, ask, request);
    await withDeadline(work, profileTimeout, `no answer within ${profileTimeout} ms`);
    credentials.profile = fromBell(name, credentials.profile as BellProfile, isTrusted);
  };
  const changes = {
    name,
    auth: endpoints.authorize ?? base.auth,
    token: endpoints.token ?? base.token,
    ...(withCodeChallenge.has(name) && { pkce: 'S256' }),
    profile,
  };
  return { ...base, ...changes } as Protocol;
}

/** bell's own helper has no deadline. */
function getter(token: string, headers: Readonly<Record<string, string>> = {}) {
  return async (uri: string, params: Readonly<Record<string, string>> = {}): Promise<object> => {
    const query = new URLSearchParams(params).toString();
    return (await fetchProfile(query === '' ? uri : `${uri}?${query}`, token, headers)) as object;
  };
}

function isPosted(base: Protocol): boolean {
  return (base as { readonly profileMethod?: string }).profileMethod === 'post';
}

/**
 * How bell sends the client secret. As an object it is merged into the options of the request for the token, the only way
 * to give that a deadline and a bound.
 */
export function clientSecretOf(provider: Protocol, { client_id, client_secret }: ProviderSettings) {
  if (provider.protocol === 'oauth') return { clientSecret: client_secret };
  const limits = { timeout: providerTimeout, maxBytes: maxAnswer };
  if (provider.useParamsAuth === true) return { clientSecret: limits, tokenParams: { client_secret } };
  const credentials = [client_id, client_secret].map(formEncoded).join(':');
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { clientSecret: { ...limits, headers: { Authorization: authorization } } };
}

/** As client_secret_basic asks (RFC 6749, section 2.3.1): a + or % in a secret would be read as another character. */
function formEncoded(text: string): string {
  return new URLSearchParams({ text }).toString().slice('text='.length);
}
